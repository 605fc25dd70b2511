// Command bench lays the shipped service beside its rivals on the lab's network, in one run, and prints ratios: the
// gateway beside prometheus-blackbox-exporter and a bare Echo, the memory of a thousand runs at silent targets, the
// worker beside traceroute and mtr, and a thousand traces at once. It fails where a figure misses its bound. It takes
// root and the rivals; without root it says so and does nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/project"
)

// The roles in which the bench runs itself, in processes of their own.
const (
	roleTarget = "target"
	roleBare   = "bare"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == roleTarget {
		fatal(serveTarget(os.Args[2]))
	}
	if len(os.Args) > 3 && os.Args[1] == roleBare {
		fatal(serveBare(os.Args[2], os.Args[3]))
	}
	var o options
	flag.StringVar(&o.parts, "parts", "rates,flight,silent,traces", "what to measure")
	flag.StringVar(&o.only, "only", "", "of the rates, only those whose name holds this")
	flag.IntVar(&o.rounds, "rounds", 5, "how often each load runs, on both sides in turn")
	flag.DurationVar(&o.shot, "shot", 4*time.Second, "how long each load runs")
	flag.IntVar(&o.runs, "runs", 7, "how often each path is traced, by each tool in turn")
	flag.IntVar(&o.flood, "flood", 1000, "how many traces to run at once")
	flag.BoolVar(&o.mtr, "mtr", true, "also run mtr, which takes about ten seconds a path")
	flag.StringVar(&o.update, "update", "", "the Markdown file whose tables are replaced by those of this run")
	flag.Parse()
	fatal(o.check())
	if os.Geteuid() != 0 {
		fmt.Println("bench: the lab makes network namespaces and needs root (sudo make bench); left out")
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	fatal(err)
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	gateway, worker     string
	parts, only, update string
	rounds              int
	shot                time.Duration
	runs, flood         int
	mtr                 bool
}

// check refuses options that contradict each other.
func (o options) check() error {
	if o.only != "" && o.update != "" {
		return errors.New("-update writes whole tables, and -only measures a part of one: leave one of them out")
	}
	return nil
}

// bench is the lab, and what is measured in it.
type bench struct {
	lab     *lab.Lab
	self    string // this program
	client  *http.Client
	process *lab.Process // the worker
	options options
	tables  []table
	serials int
}

// serial is another number each time, for the names of what is made more than once.
func (b *bench) serial() int {
	b.serials++
	return b.serials
}

func run(ctx context.Context, o options) (err error) {
	if o.gateway, o.worker, err = project.Binaries(ctx); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	internet, err := lab.Build(ctx, lab.Options{NetworkOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, internet.Close()) }()
	b := &bench{lab: internet, self: self, client: internet.HTTPClient(), options: o}
	defer b.client.CloseIdleConnections()
	if err := b.startTarget(ctx); err != nil {
		return err
	}
	var errs []error
	for _, part := range strings.Split(o.parts, ",") {
		measure, ok := map[string]func(context.Context) error{
			"rates": b.rates, "flight": b.flight, "silent": b.silent, "traces": b.traces,
		}[part]
		if !ok {
			return fmt.Errorf("there is no part %q", part)
		}
		errs = append(errs, measure(ctx))
	}
	return errors.Join(append(errs, b.publish())...)
}

// traces is the worker beside its rivals.
func (b *bench) traces(ctx context.Context) error {
	if err := b.startWorker(ctx); err != nil {
		return err
	}
	defer b.process.Kill()
	return errors.Join(b.speed(ctx), b.pings(ctx), b.atOnce(ctx))
}
