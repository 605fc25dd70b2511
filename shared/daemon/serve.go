package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Service is what a process serves.
type Service struct {
	// Server answers the public listener.
	Server *http.Server
	// Listener wraps the public listener; nil leaves it as it is.
	Listener func(net.Listener) net.Listener
	// Metrics answers /metrics of the private listener.
	Metrics http.Handler
	// Drain makes the service tell that it leaves. It goes on answering.
	Drain func()
}

// Serve answers both listeners until ctx ends, then leaves in an orderly way. The listeners stay the caller's to close.
func (s Settings) Serve(ctx context.Context, l *Listeners, service Service, log *slog.Logger) error {
	// Requests end when their client goes, or when the drain is over; not when the signal comes.
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	service.Server.ErrorLog = foreignLog()
	service.Server.BaseContext = func(net.Listener) context.Context { return requests }
	var fresh newcomers
	fresh.watch(service.Server)
	go processMemory().giveBack(requests)
	defer processHeap().collectLess()()
	public := l.public
	if service.Listener != nil {
		public = service.Listener(public)
	}
	ended := ends{public: make(chan error, 1), metrics: make(chan error, 1)}
	go func() { ended.public <- service.Server.Serve(public) }()
	if l.metrics != nil {
		exporter := newExporter(service.Metrics)
		defer exporter.Close()
		go func() { ended.metrics <- exporter.Serve(l.metrics) }()
	}
	if err := ended.before(ctx.Done()); err != nil {
		return err
	}
	return s.drain(service, public, &fresh, log, ended)
}

// ends are where each of the servers tells that it has left its listener.
type ends struct{ public, metrics chan error }

// before waits for the moment, and gives the error of a server that ends before it.
func (e ends) before(moment <-chan struct{}) error {
	var err error
	select {
	case err = <-e.public:
	case err = <-e.metrics:
	case <-moment:
		return nil
	}
	return fmt.Errorf("serve: %w", err)
}

// drain is unready but accepting for SHUTDOWN_DELAY, so that balancers notice, and then lets the requests in flight
// finish within SHUTDOWN_TIMEOUT.
//
// The listener is closed before net/http is told: it drops the requests that it reads from then on, and those of who
// has just connected are on their way. Nor before the server has left the listener: it would close that once more, and
// fail.
func (s Settings) drain(
	service Service, public net.Listener, fresh *newcomers, log *slog.Logger, ended ends,
) error {
	delay, timeout := time.Duration(s.ShutdownDelay), time.Duration(s.ShutdownTimeout)
	log.Info("draining", "delay", delay.String(), "timeout", timeout.String())
	service.Drain()
	over, stop := context.WithTimeout(context.Background(), delay)
	defer stop()
	if err := ended.before(over.Done()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_ = public.Close()
	_ = ended.before(ctx.Done())
	fresh.settle(min(timeout/2, silence))
	if err := service.Server.Shutdown(ctx); err != nil {
		_ = service.Server.Close()
		if errors.Is(err, context.DeadlineExceeded) {
			return errors.New("SHUTDOWN_TIMEOUT ran out with requests still in flight; they were cut off")
		}
		return fmt.Errorf("stop: %w", err)
	}
	log.Info("stopped")
	return nil
}

// newExporter makes the server of the private listener, whose few clients ask for one small page.
func newExporter(metrics http.Handler) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	return &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          foreignLog(),
	}
}
