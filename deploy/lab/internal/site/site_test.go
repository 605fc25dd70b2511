package site

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// world serves the whole catalogue on loopback, each endpoint on a port of its own.
type world struct {
	mu    sync.Mutex
	ports map[string]string
	roots *x509.CertPool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ca, err := NewCA()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{ports: map[string]string{}, roots: x509.NewCertPool()}
	w.roots.AppendCertsFromPEM(ca.RootPEM())
	sites := Catalogue(func(n int) (v4, v6 netip.Addr) {
		return netip.AddrFrom4([4]byte{11, 80, 0, byte(n)}), netip.Addr{}
	})
	servers, err := Start(w.listen, ca, sites)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := servers.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, s := range sites {
		for _, e := range s.endpoints {
			w.ports[fmt.Sprintf("%s:%d", s.Host, e.port)] = w.ports[net.JoinHostPort(s.V4.String(), fmt.Sprint(e.port))]
		}
	}
	return w
}

func (w *world) listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, "127.0.0.1:0")
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ports[address] = l.Addr().String()
	}
	return l, err
}

func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, w.ports[address])
}

func (w *world) client() *http.Client {
	return &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{DialContext: w.dial, TLSClientConfig: &tls.Config{RootCAs: w.roots},
			ForceAttemptHTTP2: true,
			DisableKeepAlives: true, MaxResponseHeaderBytes: 1 << 20},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func TestSitesAnswerInTheirTemper(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tests := []struct {
		url  string
		want string // status, protocol and Location, or part of the error
	}{
		{"http://fast.lab-site.com/", "200 HTTP/1.1"},
		{"https://fast.lab-site.com/", "200 HTTP/2.0"},
		{"https://http1.lab-site.com/", "200 HTTP/1.1"},
		{"https://tls12.lab-site.com/", "200 HTTP/2.0"},
		{"http://notfound.lab-site.com/", "404 HTTP/1.1"},
		{"http://broken.lab-site.com/", "500 HTTP/1.1"},
		{"http://upgrade.lab-site.com/x?y=1", "301 HTTP/1.1 https://upgrade.lab-site.com/x?y=1"},
		{"http://redirects.lab-site.com/chain/2", "301 HTTP/1.1 /chain/1"},
		{"http://redirects.lab-site.com/chain/0", "200 HTTP/1.1"},
		{"http://redirects.lab-site.com/loop", "302 HTTP/1.1 /loop2"},
		{"http://redirects.lab-site.com/none", "302 HTTP/1.1"},
		{RedirectTo("redirects.lab-site.com", "file:///etc/passwd", 307), "307 HTTP/1.1 file:///etc/passwd"},
		{RedirectTo("redirects.lab-site.com", `http:\\127.0.0.1\`, 308), `308 HTTP/1.1 http:\\127.0.0.1\`},
		{"http://http10.lab-site.com/", "200 HTTP/1.0"},
		{"http://nothttp.lab-site.com/", "malformed HTTP"},
		{"http://reset.lab-site.com/", "reset by peer"},
		{"https://notls.lab-site.com/", "does not look like a TLS handshake"},
		{"https://expired.lab-site.com/", "expired"},
		{"https://notyet.lab-site.com/", "not yet valid"},
		{"https://selfsigned.lab-site.com/", "unknown authority"},
		{"https://untrusted.lab-site.com/", "unknown authority"},
		{"https://nointermediate.lab-site.com/", "unknown authority"},
		{"https://wronghost.lab-site.com/", "valid for other.lab-site.com"},
		{"https://tls10.lab-site.com/", "protocol version"},
	}
	client := w.client()
	for _, test := range tests {
		t.Run(test.url, func(t *testing.T) {
			t.Parallel()
			resp, err := client.Get(test.url)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
				return
			}
			resp.Body.Close()
			got := strings.TrimSpace(fmt.Sprintf("%d %s %s", resp.StatusCode, resp.Proto, resp.Header.Get("Location")))
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TLS 1.3 refuses a client without a certificate after the client's part of the handshake is over (RFC 8446 section
// 4.4.2.4): the refusal is read here without a request under way, whose write may meet the closed connection first.
func TestClientCertificateWanted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conn, err := w.dial(t.Context(), "tcp", "clientcert.lab-site.com:443")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	secured := tls.Client(conn, &tls.Config{RootCAs: w.roots, ServerName: "clientcert.lab-site.com"})
	if err := secured.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := secured.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("got %v, want the alert certificate required", err)
	}
}

func TestHeaderSizes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	resp, err := w.client().Get("http://huge.lab-site.com/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	size := 0
	for name, values := range resp.Header {
		size += len(name) + len(values[0])
	}
	if size <= 64<<10 {
		t.Errorf("%d bytes of headers, want over 64 KiB", size)
	}
}

func TestMailUpgrades(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for port, talk := range map[string][]string{
		"25":  {"EHLO me\r\n", "250 STARTTLS", "STARTTLS\r\n", "220 "},
		"587": {"EHLO me\r\n", "250 STARTTLS", "STARTTLS\r\n", "220 "},
		"110": {"CAPA\r\n", ".", "STLS\r\n", "+OK"},
		"143": {"a CAPABILITY\r\n", "a OK", "b STARTTLS\r\n", "b OK"},
	} {
		conn, err := w.dial(t.Context(), "tcp", "mail.lab-site.com:"+port)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		in := bufio.NewReader(conn)
		if _, err := in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(talk); i += 2 {
			if _, err := io.WriteString(conn, talk[i]); err != nil {
				t.Fatal(err)
			}
			for line := ""; !strings.HasPrefix(line, talk[i+1]); {
				if line, err = in.ReadString('\n'); err != nil {
					t.Fatalf("port %s, after %q: %v", port, talk[i], err)
				}
			}
		}
		secured := tls.Client(conn, &tls.Config{RootCAs: w.roots, ServerName: "mail.lab-site.com"})
		if err := secured.HandshakeContext(t.Context()); err != nil {
			t.Errorf("port %s: %v", port, err)
		}
	}
}
