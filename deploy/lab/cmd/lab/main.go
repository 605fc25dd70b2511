// Command lab builds the private internet of package lab and keeps it while it runs.
//
//	lab up [-id six-digits]                 the network and its servers
//	lab demo [-listen address] [-set NAME=value]…
//	                                        the same, the service at three places, and a URL on loopback for a browser
//	lab down                                ends every lab of this machine and takes away what killed ones left
//
// It takes root. Interrupt it to end it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/project"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("say up, demo or down")
	}
	switch args[0] {
	case "up":
		return up(ctx, args[1:], out)
	case "demo":
		return demo(ctx, args[1:], out)
	case "down":
		return down(ctx, out)
	}
	return fmt.Errorf("unknown command %q: say up, demo or down", args[0])
}

func up(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	id := flags.String("id", "", "the lab's id, six hexadecimal digits; random where empty")
	if err := flags.Parse(args); err != nil {
		return err
	}
	start := time.Now()
	l, err := lab.Build(ctx, lab.Options{ID: *id})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := startTLSServers(ctx, out, l); err != nil {
		return err
	}
	fmt.Fprintf(out, "The lab stands (%d ms). A shell on the service's host:\n\n  ip netns exec %s bash\n\n",
		time.Since(start).Milliseconds(), l.Namespace(lab.ServiceHost))
	printNames(out, l)
	fmt.Fprintln(out, "\nInterrupt to take it away.")
	<-ctx.Done()
	return nil
}

func demo(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "where the browser connects, on this machine's loopback")
	var settings []string
	flags.Func("set", "a setting of the gateway, as NAME=value; may be given several times", func(s string) error {
		settings = append(settings, s)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	gateway, worker, err := project.Binaries(ctx)
	if err != nil {
		return err
	}
	l, err := lab.Build(ctx, lab.Options{Examples: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	opts := lab.ServiceOptions{Gateway: gateway, Worker: worker, GatewayEnv: settings}
	_, placed, err := l.StartPlaces(ctx, opts)
	if err != nil {
		return err
	}
	opts.GatewayEnv = slices.Concat(placed, settings)
	service, err := l.StartService(ctx, opts)
	if err != nil {
		return err
	}
	if err := startTLSServers(ctx, out, l); err != nil {
		return err
	}
	at, err := l.Forward(*listen, service.Gateway.Addr)
	if err != nil {
		return err
	}
	printNames(out, l)
	fmt.Fprintf(out, "\nOpen http://%s/ in a browser of this machine. Logs are in %s. Interrupt to end it.\n", at, l.Dir())
	select {
	case <-ctx.Done():
		return nil
	case <-service.Gateway.Process.Done():
		return fmt.Errorf("the gateway ended:\n%s", service.Gateway.Process.Log())
	case <-service.Worker.Process.Done():
		return fmt.Errorf("the worker ended:\n%s", service.Worker.Process.Log())
	}
}

// startTLSServers runs the TLS servers, those left out whose programs are not installed.
func startTLSServers(ctx context.Context, out io.Writer, l *lab.Lab) error {
	missing, err := l.StartTLSServers(ctx)
	if len(missing) > 0 {
		fmt.Fprintf(out, "The TLS servers that need these programs are left out: %s\n\n", strings.Join(missing, ", "))
	}
	return err
}

func printNames(out io.Writer, l *lab.Lab) {
	fmt.Fprintln(out, "Names to try:")
	for _, name := range l.Names() {
		fmt.Fprintf(out, "  %-32s %s\n", name.Host, name.Note)
	}
}

func down(ctx context.Context, out io.Writer) error {
	running, err := lab.Running()
	if err != nil {
		return err
	}
	ids := make([]string, 0, len(running))
	for id, pid := range running {
		ids = append(ids, id)
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			return fmt.Errorf("end lab %s (process %d): %w", id, pid, err)
		}
	}
	sort.Strings(ids)
	for _, id := range ids {
		if err := ended(ctx, id); err != nil {
			return err
		}
		fmt.Fprintf(out, "Lab %s is gone.\n", id)
	}
	return lab.Sweep()
}

func ended(ctx context.Context, id string) error {
	deadline := time.After(30 * time.Second)
	for {
		running, err := lab.Running()
		if err != nil {
			return err
		}
		if _, still := running[id]; !still {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-deadline:
			return fmt.Errorf("lab %s does not end", id)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
