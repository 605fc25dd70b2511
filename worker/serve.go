package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"diagnostics/daemon"
	"diagnostics/daemon/files"
	"diagnostics/daemon/settings"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/httpapi"
	"diagnostics/worker/internal/icmp"
	"diagnostics/worker/internal/privilege"
	"diagnostics/worker/internal/probe"
)

// Bounds of the HTTP server.
const (
	headerTimeout = 5 * time.Second
	// A whole request must be there by then. A job may take longer: once a body has been read to its end, net/http lifts
	// the deadline to watch for a client that leaves. It ends a body that is not read, as that of a caller without a
	// token, which net/http waits for before the answer goes out. For those with a token httpapi has a bound of its own.
	readTimeout = headerTimeout + 5*time.Second
	// The answer must be out by then, counted from the header's end; this one runs during the job.
	writeTimeout   = workerapi.JobLimit + 10*time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 16 << 10
)

// serve opens everything, then serves until ctx ends, then leaves in an orderly way. tokenFile is where the tokens come
// from, "" where they come from no file.
func serve(ctx context.Context, c Config, tokenFile string, log *daemon.Log) error {
	hangups, stop := daemon.Hangups()
	defer stop()
	listeners, err := daemon.Listen(ctx, "WORKER_LISTEN_ADDR", c.ListenAddr, c.MetricsListenAddr)
	if err != nil {
		return err
	}
	defer listeners.Close()
	engine, err := openEngine(log.Logger)
	if err != nil {
		return err
	}
	defer engine.Close()
	if err := dropPrivileges(c, engine); err != nil {
		return err
	}
	log.Debug("privileges dropped", "uid", os.Getuid(), "gid", os.Getgid())

	// From here on files are read as whom they will be reread.
	watcher := &files.Watcher{}
	secured, err := newServerTLS(c, watcher)
	if err != nil {
		return err
	}
	metrics := newMetrics(log.Dropped)
	api := newAPI(c, engine, metrics, log.Logger)
	watchTokens(tokenFile, watcher, api)
	metrics.watchSockets(engine)
	metrics.watchJobs(api.JobsRunning, int(c.MaxConcurrent))
	metrics.watchFiles(watcher)
	if secured != nil {
		metrics.watchCertificate(secured.Expiry)
	}
	log.Info("worker started", "version", daemon.Version(), "commit", daemon.Commit(),
		"listen", listeners.Public(), "metrics", listeners.Metrics(),
		"families", engine.Families(), "mode", engine.Mode(), "slots", int(c.MaxConcurrent), "tls", c.tlsMode())
	service := daemon.Service{
		Server:  newServer(api),
		Metrics: metrics.handler(),
		Drain:   api.Drain,
		Leaving: httpapi.ErrLeaving,
		Files:   watcher,
		Hangups: hangups,
	}
	if secured != nil {
		service.Listener = secured.Listen
		// A connection outlives the authorities that it was verified by; each of a gateway's is for one request anyway.
		service.Server.SetKeepAlivesEnabled(c.TLSClientCAFile == "")
	}
	return c.Serve(ctx, listeners, service, log.Logger)
}

// watchTokens has the tokens taken again when their file changes.
func watchTokens(path string, watcher *files.Watcher, api *httpapi.Server) {
	if path == "" {
		return
	}
	of := files.Source{Name: "worker_token", Setting: "DIAGNOSTICS_WORKER_TOKEN_FILE"}
	watcher.Watch(of, func(contents [][]byte) error {
		value, err := settings.FileValue(contents[0])
		if err != nil {
			return err
		}
		var all tokens
		if err := all.Decode(value); err != nil {
			return err
		}
		api.SetTokens(all.reveal())
		return nil
	}, path)
}

func newAPI(c Config, engine *icmp.Engine, metrics *workerMetrics, log *slog.Logger) *httpapi.Server {
	prober := probe.New(engine, probe.Options{
		Budget: probe.NewBudget(int(c.PacketsPerSecond), int(c.TargetPerSecond)),
		Waited: metrics.waited,
		Raw:    bool(c.IncludeRaw),
	})
	return httpapi.New(httpapi.Config{
		Tokens:   c.Tokens.reveal(),
		Prober:   prober,
		NAT64:    c.NAT64,
		Families: engine.Families(),
		Mode:     string(engine.Mode()),
		Slots:    int(c.MaxConcurrent),
		Log:      log,
		Observer: metrics,

		ClientCertificates: c.TLSClientCAFile != "",
	})
}

func newServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
	}
}

// rightsError is a system that grants no ICMP socket of either kind.
type rightsError struct{ cause error }

// Error lists, in one line, how to grant the right in each of the usual places.
func (e *rightsError) Error() string {
	cause := strings.ReplaceAll(e.cause.Error(), "\n", "; ")
	return "cannot open any ICMP socket (" + cause + "); it needs the capability NET_RAW, by one of: " +
		"`sudo setcap cap_net_raw+ep` on the worker's binary; Docker: `cap_add: [NET_RAW]`; " +
		"systemd: `AmbientCapabilities=CAP_NET_RAW`; or a start as root. Or, without any capability, datagram sockets for " +
		"its group: " +
		fmt.Sprintf("`sudo sysctl -w net.ipv4.ping_group_range=\"%d %[1]d\"`", os.Getegid())
}

func (e *rightsError) Unwrap() error { return e.cause }

// openEngine opens the ICMP sockets and logs a family that is missing.
func openEngine(log *slog.Logger) (*icmp.Engine, error) {
	engine, err := icmp.Open(log)
	if err != nil {
		return nil, &rightsError{cause: err}
	}
	for _, family := range []int{4, 6} {
		if err := engine.Absent(family); err != nil {
			log.Warn("no ICMP socket of this family; its jobs are answered 502", "family", family, "cause", err.Error())
		}
	}
	if err := engine.NoPorts(); err != nil {
		log.Warn("no sockets for UDP and TCP probes; traces that ask for these are answered 502", "cause", err.Error())
	}
	return engine, nil
}

// dropPrivileges keeps the open sockets and nothing else.
func dropPrivileges(c Config, engine *icmp.Engine) error {
	err := privilege.Drop(privilege.Identity{UID: int(c.RunAsUID), GID: int(c.RunAsGID)})
	switch {
	case errors.Is(err, privilege.ErrIdentity):
		return fmt.Errorf("RUN_AS_UID and RUN_AS_GID need the capabilities CAP_SETUID and CAP_SETGID: start as root, or "+
			"leave them unset (%w)", err)
	case err != nil:
		return err
	}
	// Datagram sockets are opened with each job, by whom the worker is from now on.
	if err := engine.Check(); err != nil {
		return &rightsError{cause: err}
	}
	return nil
}
