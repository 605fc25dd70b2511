package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"diagnostics/shared/workerapi"
)

const healthTimeout = 2 * time.Second

// checkHealth asks the worker that runs with the same settings whether it lives: the health check of a container that
// has no other program in it.
func checkHealth(ctx context.Context, c Config) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+localAddr(c.ListenAddr)+workerapi.PathHealth, nil)
	if err != nil {
		return err
	}
	// Straight there: a proxy of the environment has no business in between.
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("not healthy: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("not healthy: %s answers %d", workerapi.PathHealth, resp.StatusCode)
	}
	return nil
}

// localAddr is where a listener can be reached from its own host.
func localAddr(listen listenAddr) string {
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
