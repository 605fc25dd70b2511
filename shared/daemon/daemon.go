// Package daemon is what both services are as processes: arguments, log, listeners, health check, version, and an
// orderly end. What they do is theirs.
package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"diagnostics/daemon/settings"
)

// Settings are those that every service has; a service's own struct of settings embeds them.
type Settings struct {
	LogLevel        settings.Choice   `envconfig:"LOG_LEVEL" default:"info" oneof:"debug info warn error" takes:"debug, info, warn or error" doc:"least level that is logged: debug, info, warn, error"`
	LogFormat       settings.Choice   `envconfig:"LOG_FORMAT" default:"json" oneof:"json text" takes:"json or text" doc:"json, or text for people"`
	ShutdownDelay   settings.Duration `envconfig:"SHUTDOWN_DELAY" default:"0s" takes:"a duration, such as 5s" doc:"on SIGTERM: unready but still accepting for this long"`
	ShutdownTimeout settings.Duration `envconfig:"SHUTDOWN_TIMEOUT" default:"30s" takes:"a duration, such as 30s" doc:"then requests in flight may finish for this long"`
}

// Logger makes the log that LOG_LEVEL and LOG_FORMAT ask for.
func (s Settings) Logger(out io.Writer) *slog.Logger {
	var level slog.Level
	// The setting's own check has left only slog's names.
	_ = level.UnmarshalText([]byte(s.LogLevel))
	options := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(out, options))
	}
	return slog.New(slog.NewJSONHandler(out, options))
}

// Main runs a service as the process that it is, until SIGTERM or an interrupt ends its context; a second signal ends
// the process at once. It prints the error that it gives, in one line with the service's name.
func Main(name string, run func(ctx context.Context, args, env []string, stdout, stderr io.Writer) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal drains; with the default action back, a second one ends the process.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, name+": "+err.Error())
	}
	return err
}
