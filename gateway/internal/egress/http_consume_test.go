package egress_test

import (
	"io"
	"net"
	"net/http"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
)

func TestConsumedBodies(t *testing.T) {
	t.Parallel()
	text := []byte("<urlset/>")
	zip := packed(t, gzipped, text)
	n := withSite(t)
	n.Serve(web4+":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
			return
		case "/unknown":
			w.Header().Set("Content-Encoding", "br")
		default:
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("Accept-Encoding is %q", r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Encoding", "gzip")
		}
		_, _ = w.Write(zip)
	}))
	c := n.Client(nil)
	calls := 0
	chain := follow(t, c, "http://example.com/moved", 5, func(r *egress.Request) {
		r.Consume = func(answer *egress.Response, body io.Reader) {
			calls++
			if answer.Status != http.StatusOK || answer.URL.RequestURI() != "/" {
				t.Errorf("consuming the body of %+v", answer)
			}
			decoded, err := egress.DecodeBody(answer, body)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(decoded); err != nil || string(got) != string(text) {
				t.Errorf("read %q, %v", got, err)
			}
		}
	})
	final := chain.Final()
	if calls != 1 || final.Received != int64(len(zip)) || final.BodyErr != nil || final.Body != nil {
		t.Errorf("%d calls, %+v", calls, final)
	}
	for _, hop := range chain.Hops {
		if hop.Took < hop.Response.Timings.Total {
			t.Errorf("%s took %v, less than %v", hop.URL, hop.Took, hop.Response.Timings.Total)
		}
	}
	_, err := c.Do(t.Context(), egress.Request{URL: parseURL(t, "http://example.com/unknown"),
		Consume: func(answer *egress.Response, body io.Reader) {
			_, err := egress.DecodeBody(answer, body)
			wantFault(t, err, fault.Upstream)
		}})
	if err != nil {
		t.Error(err)
	}
}

func TestConsumedBodyThatBreaksOff(t *testing.T) {
	t.Parallel()
	zip := packed(t, gzipped, []byte("<urlset/>"))
	n := withSite(t)
	n.ServeConn(web4+":80", func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n")
		_, _ = conn.Write(zip[:len(zip)-9])
	})
	answer, err := n.Client(nil).Do(t.Context(), egress.Request{URL: parseURL(t, "http://example.com/"),
		Consume: func(answer *egress.Response, body io.Reader) {
			decoded, err := egress.DecodeBody(answer, body)
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.ReadAll(decoded)
			wantFault(t, err, fault.Upstream)
		}})
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, answer.BodyErr, fault.Upstream)
}

// A chain's failed hop tells how long it took, since there is no answer to tell it.
func TestFailedHopsTakeTime(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	chain := follow(t, n.Client(nil), "http://example.com/", 5)
	if chain.End != egress.EndUnreachable || chain.Hops[0].Took <= 0 {
		t.Errorf("%+v", chain)
	}
}
