//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// startHTTP3Servers runs the lab's servers of HTTP/3 once for all tests.
var startHTTP3Servers = sync.OnceValues(func() ([]lab.HTTP3Server, error) { return internet.StartHTTP3Servers() })

func http3Servers(t *testing.T) []lab.HTTP3Server {
	t.Helper()
	servers, err := startHTTP3Servers()
	if err != nil {
		t.Fatal(err)
	}
	return servers
}

// http3Answer is what the tests read of an answer with HTTP/3.
type http3Answer struct {
	Findings []struct{ Code, Group string }
	HTTP3    *struct {
		Advertised  *string
		HTTPSRecord *bool
		Tried       bool
		Works       *bool
		Address     *string
		HandshakeMs *float64
		Reason      *string
	}
}

func callHTTP3(t *testing.T, slug, input string) (http3Answer, time.Duration) {
	t.Helper()
	a := call(t, slug, input, map[string]any{"http3": true})
	if a.Status != http.StatusOK {
		t.Fatalf("%s: status %d: %.500s", input, a.Status, a.Body)
	}
	var envelope struct{ Data http3Answer }
	if err := json.Unmarshal(a.Body, &envelope); err != nil {
		t.Fatal(err)
	}
	if envelope.Data.HTTP3 == nil {
		t.Fatalf("%s: no http3 in %.500s", input, a.Body)
	}
	return envelope.Data, a.Took
}

func (a http3Answer) codes() []string {
	codes := []string{}
	for _, f := range a.Findings {
		if strings.HasPrefix(f.Code, "HTTP3_") {
			codes = append(codes, f.Code)
		}
	}
	slices.Sort(codes)
	return codes
}

// Both tools report of each of the lab's servers the truth of their table.
func TestHTTP3Servers(t *testing.T) {
	t.Parallel()
	for _, s := range http3Servers(t) {
		for _, slug := range []string{"http-headers", "uptime"} {
			t.Run(slug+"/"+s.Host, func(t *testing.T) {
				t.Parallel()
				a, took := callHTTP3(t, slug, s.URL())
				h := a.HTTP3
				if !slices.Equal(a.codes(), append([]string{}, s.Codes...)) {
					t.Errorf("findings %v, want %v; %+v", a.codes(), s.Codes, h)
				}
				if (h.Works == nil) != (s.Works == nil) || s.Works != nil && *h.Works != *s.Works {
					t.Errorf("works %v, want %v", h.Works, s.Works)
				}
				if (h.Advertised == nil) != (s.AltSvc == "") || h.Advertised != nil && *h.Advertised != s.AltSvc {
					t.Errorf("advertised %v, want %s", h.Advertised, s.AltSvc)
				}
				if h.HTTPSRecord == nil || *h.HTTPSRecord != (s.HTTPS != "") {
					t.Errorf("record %v, want %s", h.HTTPSRecord, s.HTTPS)
				}
				if h.Tried != (h.Address != nil) || (h.Reason == nil) != (h.Works != nil && *h.Works) {
					t.Errorf("tried %t, address %v, reason %v", h.Tried, h.Address, h.Reason)
				}
				if limit := 8 * time.Second; took > limit {
					t.Errorf("took %v", took)
				}
			})
		}
	}
}

// quic-go's own client, with the library's usual settings, finds the same of servers that mean well.
func TestHTTP3AsItsLibrary(t *testing.T) {
	t.Parallel()
	pem, err := os.ReadFile(internet.RootsFile())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	for _, s := range http3Servers(t) {
		if s.Works == nil || strings.HasPrefix(s.Host, "elsewhere.") {
			continue
		}
		t.Run(s.Host, func(t *testing.T) {
			t.Parallel()
			c, err := internet.ListenPacket(lab.NearHost, "udp4", "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			client := &http3.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13},
				MaxResponseHeaderBytes: 64 << 10, Dial: dialOver(t, c, s)}
			defer client.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, http.MethodHead, s.URL(), nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := client.RoundTrip(request)
			if err == nil {
				_ = answer.Body.Close()
			}
			// It reads floods to their end, and follows a server to another port.
			hostile := slices.ContainsFunc([]string{"flood.", "repeats.", "moves."}, func(name string) bool {
				return strings.HasPrefix(s.Host, name)
			})
			if works := err == nil; works != *s.Works && !hostile {
				t.Errorf("%v, want it to work: %t", err, *s.Works)
			}
		})
	}
}

func dialOver(t *testing.T, c net.PacketConn, s lab.HTTP3Server) func(
	context.Context, string, *tls.Config, *quic.Config) (*quic.Conn, error) {
	transport := &quic.Transport{Conn: c}
	t.Cleanup(func() { _ = transport.Close() })
	return func(ctx context.Context, _ string, tlsConfig *tls.Config, config *quic.Config) (*quic.Conn, error) {
		return transport.Dial(ctx, &net.UDPAddr{IP: s.Address.AsSlice(), Port: 443}, tlsConfig, config)
	}
}

// What HTTP/3 adds to a run is bounded, whatever the server does: its packets and processor time are held, and shown
// with -v. It is not parallel, as it counts packets.
func TestHTTP3Costs(t *testing.T) {
	proofOnly(t)
	const (
		mostPackets = 60
		mostBytes   = 30_000
	)
	servers := http3Servers(t)
	m := newMeter(t, "ENABLE_WORKER_TOOLS=false")
	wire := newWireMeter(t)
	// The lab's hosts answer without limit to what comes to a closed port, and Linux otherwise once a second.
	mustDo(t, lab.ServiceHost, "sysctl", "-q", "-w", "net.ipv4.icmp_ratelimit=1000")
	t.Cleanup(func() { mustDo(t, lab.ServiceHost, "sysctl", "-q", "-w", "net.ipv4.icmp_ratelimit=0") })
	cost := func(input string, options map[string]any) (amount, time.Duration) {
		before, used := wire.read(t), m.processorTime()
		m.ask(longestRun, question{"http-headers", input, options})
		return wire.settled(t).minus(before), m.processorTime() - used
	}
	for _, s := range servers {
		cost(s.URL(), nil) // what runs share is kept from here on
		plain, plainTime := cost(s.URL(), nil)
		with, withTime := cost(s.URL(), map[string]any{"http3": true})
		t.Logf("%s: %+v, %v; without: %+v, %v", s.Host, with, withTime, plain, plainTime)
		if with.packets > mostPackets || with.sent > mostBytes || withTime > mostProcessorTime {
			t.Errorf("%s: %+v, %v", s.Host, with, withTime)
		}
	}
}
