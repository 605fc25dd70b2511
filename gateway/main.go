// Command gateway is the public side of the network diagnostics service: it serves the pages and runs one diagnostic a
// request. Everything is set by the environment (config.go).
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal drains; with the default action back, a second one ends the process.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "gateway: "+err.Error())
		os.Exit(1)
	}
}

// run is the whole program: it ends when ctx does and the last run has finished. The log goes to stdout.
func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	flags.SetOutput(stderr)
	showVersion := flags.Bool("version", false, "print the version and exit")
	healthcheck := flags.Bool("healthcheck", false, "ask the running gateway's /healthz and exit")
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
		fmt.Fprintln(stdout, "gateway", buildVersion())
		return nil
	}
	config, err := ParseConfig(env)
	if err != nil {
		return err
	}
	if *healthcheck {
		return checkHealth(ctx, config)
	}
	log := newLogger(config, stdout)
	service, err := wire(config, log)
	if err != nil {
		return err
	}
	defer service.close()
	return serve(ctx, config, service, log)
}
