// Command worker measures the way to public addresses with ICMP: traceroute, ping and packet loss, for the gateway that
// holds its bearer token. Everything is set by the environment (config.go).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit statuses. exitNoRights tells whoever starts the worker (deploy/run.sh) that only the right to open sockets is
// missing; it is EX_NOPERM of sysexits.h.
const (
	exitFailure  = 1
	exitNoRights = 77
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal drains; with the default action back, a second one ends the process.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "worker: "+err.Error())
	var rights *rightsError
	if errors.As(err, &rights) {
		os.Exit(exitNoRights)
	}
	os.Exit(exitFailure)
}

// run is the whole program: it ends when ctx does and the last job has finished. The log goes to stdout.
func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	flags.SetOutput(stderr)
	showVersion := flags.Bool("version", false, "print the version and exit")
	healthcheck := flags.Bool("healthcheck", false, "ask the running worker's /healthz and exit")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("takes no arguments; it is set by the environment")
	}
	if *showVersion {
		fmt.Fprintln(stdout, "worker", buildVersion())
		return nil
	}
	config, err := ParseConfig(env)
	if err != nil {
		return err
	}
	if *healthcheck {
		return checkHealth(ctx, config)
	}
	return serve(ctx, config, newLogger(config, stdout))
}
