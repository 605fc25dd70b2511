// Command soak keeps the shipped service busy in the lab for a long time, at half of what this machine can do, while
// one thing after another breaks: two gateways, two workers and a Redis serve every tool, the pages and the connection
// samples to thousands of clients. It fails on an answer that the table of answers does not have, and on anything that
// grows. What it measured goes to stdout as Markdown. It takes root and redis-server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/project"
)

type options struct {
	gateway, worker string
	length          time.Duration
	rate            float64
	seed            uint64
}

func main() {
	var o options
	flag.DurationVar(&o.length, "for", 30*time.Minute, "how long to ask, two minutes at least")
	flag.Float64Var(&o.rate, "rate", 0, "requests a second; 0 measures what half of this machine is")
	flag.Uint64Var(&o.seed, "seed", 0, "of the requests and the faults; 0 takes a random one")
	flag.Parse()
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// shortest has room for every fault once.
const shortest = 2 * time.Minute

func run(ctx context.Context, o options) (err error) {
	if o.length < shortest {
		return fmt.Errorf("-for %v is too short: every fault once takes %v", o.length, shortest)
	}
	if o.gateway, o.worker, err = project.Binaries(ctx); err != nil {
		return err
	}
	if err := allowFiles(); err != nil {
		return fmt.Errorf("raise the limit of open files: %w", err)
	}
	internet, err := lab.Build(ctx, lab.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, internet.Close()) }()
	s, err := startStack(ctx, internet, o)
	if err != nil {
		return err
	}
	return newSoak(s, o).run(ctx)
}

// allowFiles lets this process, which is all clients and all targets, open as many files as it may, and its children
// too: without this call Go would give them the limit of before.
func allowFiles() error {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return err
	}
	files.Cur = files.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files)
}
