// Command tls holds the table of the lab's TLS servers against testssl.sh and sslscan: protocols, suites, order,
// groups, chain and trust are equal, or the table explains the difference. The tests hold the service against the same
// table. It takes root, testssl.sh and sslscan, and a quarter of an hour.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/tlsreference"
	"diagnostics/lab/internal/tlsserver"
)

func main() {
	only := flag.String("only", "", "a pattern of the names of the servers to ask; all where empty")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	flag.Parse()
	err := run(ctx, *only, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tls:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, out io.Writer) (err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if err := programs(); err != nil {
		return err
	}
	internet, err := lab.Build(ctx, lab.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, internet.Close()) }()
	missing, err := internet.StartTLSServers(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing: %s; .ci/run names the packages", strings.Join(missing, ", "))
	}
	p := proof{lab: internet, out: out, client: tlsreference.Client{
		Roots: internet.RootsFile(),
		Run: func(ctx context.Context, program string, args ...string) ([]byte, error) {
			// With the lab's resolver: testssl.sh queries a name that does not exist, again and again.
			inside := append([]string{"netns", "exec", internet.Namespace(lab.ServiceHost), program}, args...)
			return exec.CommandContext(ctx, "ip", inside...).Output()
		},
	}}
	p.all(ctx, wanted)
	if p.differences > 0 {
		return fmt.Errorf("%d differences that the table does not explain", p.differences)
	}
	return ctx.Err()
}

// programs says what to install.
func programs() error {
	for program, name := range map[string]string{"testssl": "testssl.sh", "sslscan": "sslscan"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is missing: install Debian's packages testssl.sh and sslscan", name)
		}
	}
	return nil
}

// atOnce is how many servers are probed at once: the references wait more than they compute.
const atOnce = 6

type proof struct {
	lab    *lab.Lab
	client tlsreference.Client

	mu          sync.Mutex
	out         io.Writer
	differences int
}

func (p *proof) all(ctx context.Context, wanted *regexp.Regexp) {
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for _, s := range p.lab.TLSServers() {
		if s.Truth.Suites == nil || !wanted.MatchString(s.Host) {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			p.server(ctx, s)
		})
	}
	wg.Wait()
}

// server probes one server, by its last address, with both references.
func (p *proof) server(ctx context.Context, s tlsserver.Server) {
	address := net.JoinHostPort(s.Addresses[len(s.Addresses)-1].String(), strconv.Itoa(s.Port))
	for _, reference := range []struct {
		name string
		ask  func(context.Context, tlsserver.Server, string, string) (tlsreference.Seen, error)
	}{{"sslscan", p.client.Sslscan}, {"testssl", p.client.Testssl}} {
		start := time.Now()
		file := filepath.Join(p.lab.Dir(), s.Host+"."+reference.name)
		seen, err := reference.ask(ctx, s, address, file)
		var differences []string
		if err != nil {
			differences = []string{err.Error()}
		} else {
			differences = tlsreference.Compare(reference.name, s.Truth, seen, tlsserver.Protocols)
		}
		p.report(s, reference.name, time.Since(start), differences)
	}
}

func (p *proof) report(s tlsserver.Server, reference string, took time.Duration, differences []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	verdict := "equal"
	for key, why := range s.Truth.Differs {
		if things, ok := strings.CutPrefix(key, reference+": "); ok {
			verdict = "equal but for " + things + ": " + why
		}
	}
	if len(differences) > 0 {
		verdict = "DIFFERS"
	}
	fmt.Fprintf(p.out, "%-28s %-8s %4.0f s  %s\n", s.Host, reference, took.Seconds(), verdict)
	for _, difference := range differences {
		fmt.Fprintf(p.out, "    %s\n", difference)
	}
	p.differences += len(differences)
}
