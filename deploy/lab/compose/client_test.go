//go:build compose

package compose

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func dialerFrom(a netip.Addr) *net.Dialer {
	return &net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0)), Timeout: 5 * time.Second}
}

// visitor is a client on the internet, at an address of its own.
type visitor struct {
	address netip.Addr
	client  *http.Client
}

var visitors atomic.Uint32

func newVisitor() *visitor {
	n := visitors.Add(1)
	from := netip.MustParsePrefix(visitorRange).Addr().As4()
	from[2], from[3] = byte(n>>8), byte(n)
	v := &visitor{address: netip.AddrFrom4(from)}
	v.client = &http.Client{
		Timeout: 60 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			// The name of the deployment leads to this machine, and its certificate is of an authority of Caddy's own making.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				address = strings.Replace(address, domain+":", hostAddress+":", 1)
				c, err := engine.world.dialFrom(ctx, v.address, address)
				if err != nil {
					return nil, errors.Join(errNotConnected, err)
				}
				return c, nil
			},
		},
	}
	return v
}

// errNotConnected is the cause where no connection came about, so that nothing of a request was taken.
var errNotConnected = errors.New("no connection")

// answer is one answer of a gateway.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
}

func (v *visitor) send(method, url string, body []byte, header http.Header) (answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	begin := time.Now()
	resp, err := v.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, text, time.Since(begin)}, err
}

// ask runs a tool at an origin.
func (v *visitor) ask(origin, slug, input string, options map[string]any, header http.Header) (answer, error) {
	body, err := json.Marshal(map[string]any{"input": input, "options": options})
	if err != nil {
		return answer{}, err
	}
	all := http.Header{"Content-Type": {"application/json"}}
	for name, values := range header {
		all[name] = values
	}
	return v.send(http.MethodPost, origin+"/api/tools/"+slug, body, all)
}

// origin is the first gateway's.
func origin(t *testing.T) string {
	t.Helper()
	gateways, err := engine.gateways()
	if err == nil && len(gateways) == 0 {
		err = errors.New("no gateway runs")
	}
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + gateways[0]
}

// run has a new visitor run a tool.
func run(t *testing.T, slug, input string, options map[string]any) answer {
	t.Helper()
	a, err := newVisitor().ask(origin(t), slug, input, options, nil)
	if err != nil {
		t.Fatalf("%s %q: %v", slug, input, err)
	}
	return a
}

// get has a new visitor load a page.
func get(t *testing.T, url string) answer {
	t.Helper()
	a, err := newVisitor().send(http.MethodGet, url, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// wants fails the test where the status is another, or a part of the body is missing.
func (a answer) wants(t *testing.T, what string, status int, parts ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: status %d, want %d: %.600s", what, a.status, status, a.body)
		return
	}
	for _, part := range parts {
		if !strings.Contains(string(a.body), part) {
			t.Errorf("%s: no %s in %.3000s", what, part, a.body)
		}
	}
}

// read takes an answer apart.
func read[T any](body []byte) (into T, err error) {
	if err = json.Unmarshal(body, &into); err != nil {
		err = fmt.Errorf("%w in %.300s", err, body)
	}
	return into, err
}
