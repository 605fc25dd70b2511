// Command bench lays the shipped worker beside traceroute and mtr on the lab's paths, in one run, and prints ratios;
// then it runs a thousand traces at once through one worker and counts the hops that are wrong. It takes root,
// traceroute and mtr; without root it says so and does nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"diagnostics/lab"
)

func main() {
	worker := flag.String("worker", os.Getenv("LAB_WORKER"), "the worker's binary; without it one is built")
	runs := flag.Int("runs", 7, "how often each path is traced, by each tool in turn")
	flood := flag.Int("flood", 1000, "how many traces to run at once")
	mtr := flag.Bool("mtr", true, "also run mtr, which takes about ten seconds a path")
	flag.Parse()
	if os.Geteuid() != 0 {
		fmt.Println("bench: the lab makes network namespaces and needs root (sudo make bench); left out")
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, options{worker: *worker, runs: *runs, flood: *flood, mtr: *mtr})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	worker      string
	runs, flood int
	mtr         bool
}

func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "lab-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.worker == "" {
		if o.worker, err = buildWorker(ctx, dir); err != nil {
			return err
		}
	}
	internet, err := lab.Build(ctx, lab.Options{NetworkOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, internet.Close()) }()
	b := &bench{lab: internet, client: internet.HTTPClient(), options: o}
	defer b.client.CloseIdleConnections()
	if err := b.startWorker(ctx); err != nil {
		return err
	}
	return errors.Join(b.speed(ctx), b.pings(ctx), b.atOnce(ctx))
}

// buildWorker builds the worker as `make build` does.
func buildWorker(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "worker")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "diagnostics/worker")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the worker: %w\n%s", err, out)
	}
	return path, nil
}
