// Package daemon is what both services are as processes: arguments, log, listeners, health check, version, and an
// orderly end. What they do is theirs.
package daemon

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"diagnostics/daemon/settings"
)

// Settings are those that every service has; a service's own struct of settings embeds them.
type Settings struct {
	LogLevel        settings.Choice   `envconfig:"LOG_LEVEL" default:"info" oneof:"debug info warn error" takes:"debug, info, warn or error" doc:"lowest level that is logged: debug, info, warn, error"`
	LogFormat       settings.Choice   `envconfig:"LOG_FORMAT" default:"json" oneof:"json text" takes:"json or text" doc:"json, or text for people"`
	Pprof           settings.Bool     `envconfig:"PPROF_ENABLED" default:"false" takes:"true or false" doc:"profiles of Go (/debug/pprof/) on the private listener, which METRICS_LISTEN_ADDR opens"`
	ShutdownDelay   settings.Duration `envconfig:"SHUTDOWN_DELAY" default:"0s" takes:"a duration, such as 5s" doc:"on SIGTERM: unready but still accepting for this long"`
	ShutdownTimeout settings.Duration `envconfig:"SHUTDOWN_TIMEOUT" default:"30s" takes:"a duration, such as 30s" doc:"then requests in flight may finish for this long; those still there in its last second (or tenth) are answered 503"`
}

// Main runs a service as the process that it is, until SIGTERM or an interrupt ends its context; a second signal ends
// the process at once. It prints the error that it returns, in one line with the service's name. What libraries print
// is dropped.
func Main(name string, run func(ctx context.Context, args, env []string, stdout, stderr io.Writer) error) error {
	log.SetOutput(foreign{})
	// Else Go ends a process that writes to a stdout or stderr whose reader has gone.
	signal.Ignore(syscall.SIGPIPE)
	// Else a SIGHUP ends the process, also before Serve has its files looked at.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal drains; with the default action back, a second one ends the process.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	if err != nil {
		printError(os.Stderr, name+": "+err.Error()+"\n")
	}
	return err
}

// Hangups delivers a SIGHUP when there was one since the last that was received, until stop is called.
func Hangups() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// printError prints, and waits for a reader for a second at most.
func printError(out io.Writer, text string) {
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		_, _ = io.WriteString(out, text)
	}()
	select {
	case <-printed:
	case <-time.After(flushTime):
	}
}
