package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// serve listens until ctx ends, then leaves in an orderly way.
func serve(ctx context.Context, c Config, s *service, log *slog.Logger) error {
	public, err := listen(ctx, "GATEWAY_LISTEN_ADDR", c.ListenAddr)
	if err != nil {
		return err
	}
	defer public.Close()
	// Runs end when their client goes, or when the drain is over; not when the signal comes.
	runs, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := s.edge.HTTPServer()
	server.BaseContext = func(net.Listener) context.Context { return runs }
	failed := make(chan error, 2)

	metrics, err := serveMetrics(ctx, c, s, failed)
	if err != nil {
		return err
	}
	defer metrics.close()
	go func() { failed <- server.Serve(public) }()
	logStart(ctx, c, s, log, public.Addr(), metrics.addr)

	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	return drain(c, s, server, log, failed)
}

// drain is unready but accepting for SHUTDOWN_DELAY, so that balancers notice, and then lets the runs in flight finish
// within SHUTDOWN_TIMEOUT.
func drain(c Config, s *service, server *http.Server, log *slog.Logger, failed <-chan error) error {
	log.Info("draining", slog.String("delay", time.Duration(c.ShutdownDelay).String()), slog.String("timeout", time.Duration(c.ShutdownTimeout).String()))
	s.edge.Drain()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-time.After(time.Duration(c.ShutdownDelay)):
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(c.ShutdownTimeout))
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close()
		return errors.New("SHUTDOWN_TIMEOUT ran out with requests still in flight; they were cut off")
	}
	log.Info("stopped")
	return nil
}

// listen names the setting to change where the address cannot be had.
func listen(ctx context.Context, setting string, addr listenAddr) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", string(addr))
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is already in use: stop what listens there, or choose another address by %s", addr, setting)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("no right to listen on %s: choose a port of 1024 or above by %s", addr, setting)
	}
	return nil, fmt.Errorf("cannot listen on %s, which %s sets: %w", addr, setting, err)
}

type metricsListener struct {
	server *http.Server
	addr   string
}

func (m metricsListener) close() {
	if m.server != nil {
		_ = m.server.Close()
	}
}

// serveMetrics starts the private listener, where one is set.
func serveMetrics(ctx context.Context, c Config, s *service, failed chan<- error) (metricsListener, error) {
	if c.MetricsListenAddr == "" {
		return metricsListener{addr: "off"}, nil
	}
	l, err := listen(ctx, "METRICS_LISTEN_ADDR", c.MetricsListenAddr)
	if err != nil {
		return metricsListener{}, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	go func() { failed <- server.Serve(l) }()
	return metricsListener{server: server, addr: l.Addr().String()}, nil
}

// logStart tells in one line what this instance is.
func logStart(ctx context.Context, c Config, s *service, log *slog.Logger, public net.Addr, metrics string) {
	families := s.egress.Families()
	redis, worker, trust := "off", "off", "none"
	if s.guard != nil {
		redis = "on"
	}
	if c.WorkerEnabled() {
		worker = "on"
	}
	if c.TrustsHeaders() {
		trust = "any peer"
		if len(c.TrustedCIDRs) > 0 {
			trust = "peers in TRUSTED_PROXY_CIDRS"
		}
	}
	log.LogAttrs(ctx, slog.LevelInfo, "gateway started",
		slog.String("version", buildVersion()),
		slog.String("listen", public.String()),
		slog.String("metrics", metrics),
		slog.Bool("ipv4", families.V4),
		slog.Bool("ipv6", families.V6),
		slog.String("redis", redis),
		slog.String("worker", worker),
		slog.String("proxyHeaders", trust),
	)
}

const healthTimeout = 3 * time.Second

// checkHealth asks the gateway that runs with the same settings, for a container that has no shell.
func checkHealth(ctx context.Context, c Config) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+localAddr(c.ListenAddr)+"/healthz", nil)
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
		return fmt.Errorf("not healthy: /healthz answers %d", resp.StatusCode)
	}
	return nil
}

// localAddr is how to reach a listener from this host: one on all addresses is on loopback too.
func localAddr(addr listenAddr) string {
	host, port, _ := net.SplitHostPort(string(addr))
	a, err := netip.ParseAddr(host)
	switch {
	case host == "":
		host = "127.0.0.1"
	case err == nil && a.IsUnspecified() && a.Is4():
		host = "127.0.0.1"
	case err == nil && a.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
