package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/httpapi"
	"diagnostics/worker/internal/icmp"
	"diagnostics/worker/internal/privilege"
	"diagnostics/worker/internal/probe"
)

// Bounds of the HTTP server.
const (
	readHeaderTimeout = 5 * time.Second
	// The read and write timeouts must outlast a job: a read timeout that strikes during one looks like a client that
	// left. The body has a bound of its own, in httpapi.
	exchangeTimeout = workerapi.JobLimit + 10*time.Second
	idleTimeout     = 2 * time.Minute
	maxHeaderBytes  = 16 << 10
)

// serve opens everything, then serves until ctx ends, then leaves in an orderly way.
func serve(ctx context.Context, c Config, log *slog.Logger) error {
	public, err := listen(ctx, "WORKER_LISTEN_ADDR", c.ListenAddr)
	if err != nil {
		return err
	}
	defer public.Close()
	private, err := listenIfSet(ctx, "METRICS_LISTEN_ADDR", c.MetricsListenAddr)
	if err != nil {
		return err
	}
	defer private.Close()
	engine, err := openEngine(log)
	if err != nil {
		return err
	}
	defer engine.Close()
	if err := dropPrivileges(c, engine); err != nil {
		return err
	}
	log.Debug("privileges dropped", "uid", os.Getuid(), "gid", os.Getgid())

	metrics := newMetrics()
	api := newAPI(c, engine, metrics, log)
	server := newServer(api)
	failed := make(chan error, 2)
	go func() { failed <- server.Serve(public) }()
	if private.Listener != nil {
		exporter := newServer(metrics.handler(engine, api))
		defer exporter.Close()
		go func() { failed <- exporter.Serve(private) }()
	}
	log.Info("worker started", "version", buildVersion(), "listen", public.Addr().String(), "metrics", private.String(),
		"families", engine.Families(), "mode", engine.Mode(), "places", int(c.MaxConcurrent))

	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	return drain(c, api, server, log, failed)
}

func newAPI(c Config, engine *icmp.Engine, metrics *metrics, log *slog.Logger) *httpapi.Server {
	prober := probe.New(engine, probe.Options{
		Budget: probe.NewBudget(int(c.PacketsPerSecond), int(c.TargetPerSecond)),
		Raw:    bool(c.IncludeRaw),
	})
	return httpapi.New(httpapi.Config{
		Tokens:   c.Tokens.reveal(),
		Prober:   prober,
		Families: engine.Families(),
		Mode:     string(engine.Mode()),
		Places:   int(c.MaxConcurrent),
		Log:      log,
		Observer: metrics,
	})
}

func newServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       exchangeTimeout,
		WriteTimeout:      exchangeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// What the server itself would print are strangers' protocol errors.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
}

// drain is unready but accepting for SHUTDOWN_DELAY, so that gateways notice, and then lets the jobs in flight finish
// within SHUTDOWN_TIMEOUT.
func drain(c Config, api *httpapi.Server, server *http.Server, log *slog.Logger, failed <-chan error) error {
	log.Info("draining", "delay", time.Duration(c.ShutdownDelay).String(), "timeout", time.Duration(c.ShutdownTimeout).String())
	api.Drain()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-time.After(time.Duration(c.ShutdownDelay)):
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(c.ShutdownTimeout))
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close()
		return errors.New("SHUTDOWN_TIMEOUT ran out with jobs still in flight; they were cut off")
	}
	log.Info("stopped")
	return nil
}

// rightsError is a system that grants no ICMP socket of either kind.
type rightsError struct{ cause error }

// Error says, in one line, how to give the right, in each of the usual places.
func (e *rightsError) Error() string {
	cause := strings.ReplaceAll(e.cause.Error(), "\n", "; ")
	return "cannot open any ICMP socket (" + cause + "); it needs the capability NET_RAW, by one of: " +
		"`sudo setcap cap_net_raw+ep` on the worker's binary; Docker: `cap_add: [NET_RAW]`; " +
		"systemd: `AmbientCapabilities=CAP_NET_RAW`; or a start as root. Or, without any capability, datagram sockets for its group: " +
		fmt.Sprintf("`sudo sysctl -w net.ipv4.ping_group_range=\"%d %[1]d\"`", os.Getegid())
}

func (e *rightsError) Unwrap() error { return e.cause }

// openEngine opens the ICMP sockets and tells of a family that is missing.
func openEngine(log *slog.Logger) (*icmp.Engine, error) {
	engine, err := icmp.Open()
	if err != nil {
		return nil, &rightsError{cause: err}
	}
	for _, family := range []int{4, 6} {
		if err := engine.Absent(family); err != nil {
			log.Warn("no ICMP socket of this family; its jobs are answered 502", "family", family, "cause", err.Error())
		}
	}
	return engine, nil
}

// dropPrivileges keeps the open sockets and nothing else.
func dropPrivileges(c Config, engine *icmp.Engine) error {
	err := privilege.Drop(privilege.Identity{UID: int(c.RunAsUID), GID: int(c.RunAsGID)})
	switch {
	case errors.Is(err, privilege.ErrIdentity):
		return fmt.Errorf("RUN_AS_UID and RUN_AS_GID need the capabilities CAP_SETUID and CAP_SETGID: start as root, or leave them unset (%w)", err)
	case err != nil:
		return err
	}
	// Datagram sockets are opened with each job, by whom the worker is from now on.
	if err := engine.Check(); err != nil {
		return &rightsError{cause: err}
	}
	return nil
}

// listen names the setting to change where the address cannot be had.
func listen(ctx context.Context, setting string, addr listenAddr) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", string(addr))
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

// optionalListener is a listener, or none.
type optionalListener struct{ net.Listener }

func listenIfSet(ctx context.Context, setting string, addr listenAddr) (optionalListener, error) {
	if addr == "" {
		return optionalListener{}, nil
	}
	l, err := listen(ctx, setting, addr)
	return optionalListener{l}, err
}

// Close closes the listener, if there is one.
func (o optionalListener) Close() error {
	if o.Listener == nil {
		return nil
	}
	return o.Listener.Close()
}

// String is its address, or off.
func (o optionalListener) String() string {
	if o.Listener == nil {
		return "off"
	}
	return o.Addr().String()
}

func newLogger(c Config, out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.Level(c.LogLevel)}
	if c.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(out, options))
	}
	return slog.New(slog.NewJSONHandler(out, options))
}
