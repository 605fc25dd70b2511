package daemon

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"diagnostics/daemon/settings"
)

// healthTimeout is shorter than a container engine's own for a health check, so that the cause is reported.
const healthTimeout = 2 * time.Second

// CheckHealth requests a path of the service that runs with the same settings, and returns the header of its answer. It
// is the health check of a container that has no other program in it.
//
// Where the service speaks TLS its certificate is not verified. The address is this host's own, nothing secret is sent,
// and a service that continues with its last good certificate while the file holds a broken one is healthy.
func CheckHealth(ctx context.Context, addr settings.ListenAddr, path string, speaksTLS bool) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	own, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	if addr, err = inRange(addr, own); err != nil {
		return nil, err
	}
	scheme := "http"
	if speaksTLS {
		scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+localAddr(addr)+path, nil)
	if err != nil {
		return nil, err
	}
	// Straight there: a proxy of the environment has no business in between.
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}}} // #nosec G402 -- see above
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("not healthy: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("not healthy: %s answers %d", path, resp.StatusCode)
	}
	return resp.Header, nil
}

// localAddr is how to reach a listener from its own host: one on all addresses is on loopback too.
func localAddr(listen settings.ListenAddr) string {
	host, port, err := net.SplitHostPort(string(listen))
	if err != nil {
		return string(listen)
	}
	switch a, err := netip.ParseAddr(host); {
	case host == "", err == nil && a.Is4() && a.IsUnspecified():
		host = "127.0.0.1"
	case err == nil && a.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
