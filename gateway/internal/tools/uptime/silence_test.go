package uptime

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/progress"
)

// scripted is what one connection does: err where it is not made, else it is accepted and answered so long after the
// dial; never means not at all.
type scripted struct {
	accept, answer time.Duration
	status         string
	err            error
}

const never = time.Hour

// dialScript is a socket layer of which the nth connection does what script has at n, later ones what is last.
func dialScript(script []scripted, dials *atomic.Int32) egress.DialFunc {
	return func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		s := script[min(int(dials.Add(1)), len(script))-1]
		if s.err != nil {
			return nil, s.err
		}
		began := time.Now()
		select {
		case <-time.After(s.accept):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		pipes := &egresstest.Pipes{Serve: func(_ netip.AddrPort, far net.Conn) {
			_, _ = far.Read(make([]byte, 4096))
			if s.answer == never {
				_, _ = io.Copy(io.Discard, far)
				return
			}
			time.Sleep(s.answer - time.Since(began)) // of the bubble
			_, _ = io.WriteString(far, "HTTP/1.1 "+s.status+"\r\nContent-Length: 0\r\n\r\n")
		}}
		return pipes.Dial(ctx, network, to)
	}
}

// TestUptimeOfASilentSite: it is down within 8 s, and steps say what is known until then.
func TestUptimeOfASilentSite(t *testing.T) {
	t.Parallel()
	const ok, ms = "200 OK", time.Millisecond
	silent := scripted{answer: never}
	cases := []struct {
		name    string
		script  []scripted
		verdict string
		took    time.Duration
		dials   int32
		sofar   string // the last conclusion before the end
	}{
		{"at once", []scripted{{0, 5 * ms, ok, nil}}, "up", 5 * ms, 1, ""},
		{"just before the notice", []scripted{{0, 999 * ms, ok, nil}}, "up", 999 * ms, 1, ""},
		{"slow", []scripted{{0, 6500 * ms, ok, nil}}, "up", 6500 * ms, 2, codeAnswers},
		{"silent", []scripted{silent}, "down", 8 * time.Second, 2, codeSilent},
		{"fails once", []scripted{{0, 3 * time.Second, "503 No", nil}, {0, 10 * ms, ok, nil}}, "up", 2010 * ms, 2,
			codeAnswers},
		{"refuses", []scripted{{err: syscall.ECONNREFUSED}}, "down", 250 * ms, 2, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var dials atomic.Int32
				client, err := egress.New(egress.Settings{UserAgent: egresstest.UserAgent,
					Resolvers: []netip.AddrPort{egresstest.ResolverAddr}},
					egress.WithDialer(dialScript(c.script, &dials)),
					egress.WithOwnAddresses(func() []netip.Addr { return nil }),
					egress.WithFamilies(egress.Families{V4: true}))
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				feed, began := new(progress.Feed), time.Now()
				got, err := toolstest.Run(progress.With(t.Context(), feed), New(client),
					toolstest.URLInput("http://"+toolstest.WebV4+"/"))
				took := time.Since(began)
				if err != nil {
					t.Fatal(err)
				}
				r := got.(*Result)
				checkReport(t, r)
				if r.Verdict != c.verdict || took != c.took || dials.Load() != c.dials {
					t.Errorf("%s after %v and %d connections: %s", r.Verdict, took, dials.Load(), toolstest.Text(r.Reason))
				}
				if sofar := lastConclusion(feed); !strings.Contains(sofar, c.sofar) || (c.sofar == "") != (sofar == "") {
					t.Errorf("concluded %q before the end", sofar)
				}
				time.Sleep(never) // until the servers have seen that the client has left
			})
		})
	}
}

// lastConclusion returns the newest conclusion of a feed, empty where it has none.
func lastConclusion(feed *progress.Feed) (text string) {
	for position := uint64(0); ; {
		step, next, ok, _ := feed.Next(position)
		if !ok {
			return text
		}
		if position = next; step.Kind == "conclusion" {
			text = string(step.Value.(json.RawMessage))
		}
	}
}
