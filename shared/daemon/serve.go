package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof" //nolint:gosec // registers on the default mux too, which nothing serves
	"os"
	"time"

	"diagnostics/daemon/files"
)

// Service is what a process serves.
type Service struct {
	// Server answers the public listener.
	Server *http.Server
	// Listener wraps the public listener; nil leaves it as it is.
	Listener func(net.Listener) net.Listener
	// Peers answers a second listener, for other instances of the service; nil is none.
	Peers *Peers
	// Metrics answers /metrics of the private listener.
	Metrics http.Handler
	// Debug are further routes of the private listener, by their paths.
	Debug map[string]http.Handler
	// Drain makes the service report itself unready. It goes on answering.
	Drain func()
	// Leaving is the cause that the contexts of requests end with where SHUTDOWN_TIMEOUT is almost over. There is time for
	// a last word to the client then.
	Leaving error
	// Files are watched while the service runs; nil is none.
	Files *files.Watcher
	// Hangups have the files looked at; nil is never.
	Hangups <-chan os.Signal
}

// Peers is a server with its listener, which Wrap wraps; nil leaves it as it is.
type Peers struct {
	Server   *http.Server
	Listener net.Listener
	Wrap     func(net.Listener) net.Listener
}

// Serve answers all listeners until ctx ends, then leaves in an orderly way. The listeners stay the caller's to close.
func (s Settings) Serve(ctx context.Context, l *Listeners, service Service, log *slog.Logger) error {
	// Requests end when their client goes, or when the drain is over; not when the signal comes.
	requests, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	d := drain{Settings: s, service: service, end: end, log: log,
		ended: ends{public: make(chan error, 1), metrics: make(chan error, 1), peers: make(chan error, 1)}}
	if service.Files == nil {
		service.Files = &files.Watcher{}
	}
	go service.Files.Run(requests, service.Hangups, log)
	if p := service.Peers; p != nil {
		d.enter(requests, &entrance{server: p.Server, socket: p.Listener, left: d.ended.peers}, p.Wrap)
		defer p.Server.Close()
	}
	d.enter(requests, &entrance{server: service.Server, socket: l.public, left: d.ended.public}, service.Listener)
	if l.metrics != nil {
		exporter := s.newExporter(service)
		defer exporter.Close()
		go func() { d.ended.metrics <- exporter.Serve(l.metrics) }()
	}
	if err := d.ended.before(ctx.Done()); err != nil {
		return err
	}
	return d.run()
}

// enter has the server of an entrance answer its listener, which wrap wraps, with requests as the parent of their
// contexts.
func (d *drain) enter(requests context.Context, e *entrance, wrap func(net.Listener) net.Listener) {
	e.server.ErrorLog = foreignLog()
	e.server.BaseContext = func(net.Listener) context.Context { return requests }
	e.clients.watch(e.server)
	e.listener = e.socket
	if wrap != nil {
		e.listener = wrap(e.socket)
	}
	d.entrances = append(d.entrances, e)
	go func() { e.left <- e.server.Serve(e.listener) }()
}

// ends receive the error with which each server has left its listener.
type ends struct{ public, metrics, peers chan error }

// before waits for the moment, and returns the error of a server that ends before it.
func (e ends) before(moment <-chan struct{}) error {
	var err error
	select {
	case err = <-e.public:
	case err = <-e.metrics:
	case err = <-e.peers:
	case <-moment:
		return nil
	}
	return fmt.Errorf("serve: %w", err)
}

// profileTime is how long a profile may take: go tool pprof requests 30 seconds by default.
const profileTime = 2 * time.Minute

// newExporter returns the server of the private listener, whose few clients request one small page, or a profile.
func (s Settings) newExporter(service Service) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", service.Metrics)
	for path, handler := range service.Debug {
		mux.Handle("GET "+path, handler)
	}
	answer := 10 * time.Second
	if s.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
		answer = profileTime
	}
	return &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      answer,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          foreignLog(),
	}
}
