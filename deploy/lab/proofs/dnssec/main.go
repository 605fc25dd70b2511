// Command dnssec compares dns-delegation with a validating unbound, delv, dnsviz and zonemaster-cli on the lab's signed
// zones: what each makes of the question that shows the zone's fault, and the truth of the table. It takes root and
// unbound; delv, dnsviz and zonemaster-cli are left out where they are not installed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/project"

	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

func main() {
	only := flag.String("only", "", "a pattern of the domains; all where empty")
	quick := flag.Bool("quick", false, "without dnsviz and zonemaster-cli, which take some seconds a zone")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	flag.Parse()
	err := run(ctx, *only, *quick, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dnssec:", err)
		os.Exit(1)
	}
}

// row is one question and what is true of it.
type row struct {
	domain, input, truth, note, differs string
	qtype                               uint16
}

func rows() (all []row) {
	for _, s := range lab.SignedZones() {
		r := row{s.Domain(), s.Input(), s.Truth, s.Note, s.Differs, s.Type}
		if r.qtype == 0 {
			r.qtype = dns.TypeA
		}
		all = append(all, r)
	}
	for _, p := range lab.PackagedZones() {
		all = append(all, row{p.Domain, p.Domain, p.Truth, "served by " + p.Program, "", dns.TypeMX})
	}
	return all
}

func run(ctx context.Context, only string, quick bool, out io.Writer) (err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	gateway, worker, err := project.Binaries(ctx)
	if err != nil {
		return err
	}
	internet, err := lab.Build(ctx, lab.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, internet.Close()) }()
	missing, err := internet.StartNameServers(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing: %s; .ci/run names the packages", strings.Join(missing, ", "))
	}
	service, err := internet.StartService(ctx, lab.ServiceOptions{Gateway: gateway, Worker: worker,
		GatewayEnv: []string{"RATE_LIMIT_REQUESTS=0", "RATE_LIMIT_CLIENT_REQUESTS=0", "RATE_LIMIT_TARGET_REQUESTS=0",
			"RATE_LIMIT_ADDRESS_REQUESTS=0"}})
	if err != nil {
		return err
	}
	if err := startUnbound(ctx, internet); err != nil {
		return err
	}
	p := proof{lab: internet, url: "http://" + service.Gateway.Addr + "/api/tools/dns-delegation", out: out}
	if p.tools, err = p.others(quick); err != nil {
		return err
	}
	return errors.Join(p.records(ctx, service), p.all(ctx, wanted), p.times(ctx, wanted))
}

type proof struct {
	lab   *lab.Lab
	url   string
	out   io.Writer
	tools []tool
}

// tool is a program that judges a zone.
type tool struct {
	name  string
	state func(context.Context, row) (string, error)
}

// atOnce is how many zones are judged at once: the programs wait more than they compute.
const atOnce = 6

// all prints the table. It fails where unbound does not come to the truth and the table does not say why.
func (p proof) all(ctx context.Context, wanted *regexp.Regexp) error {
	list := slices.DeleteFunc(rows(), func(r row) bool { return !wanted.MatchString(r.domain) })
	lines, errs := make([]string, len(list)), make([]error, len(list))
	parallel.Each(len(list), atOnce, func(i int) { lines[i], errs[i] = p.row(ctx, list[i]) })
	for _, line := range lines {
		fmt.Fprint(p.out, line)
	}
	return errors.Join(errs...)
}

// row is a line of the table.
func (p proof) row(ctx context.Context, r row) (string, error) {
	we, err := p.ours(ctx, r)
	if err != nil {
		return "", fmt.Errorf("%s: %w", r.input, err)
	}
	line := fmt.Sprintf("%-32s %-5s truth %-8s we %-8s", r.input, dns.TypeToString[r.qtype], r.truth, we)
	if we != r.truth {
		err = fmt.Errorf("%s: dns-delegation finds it %s, and it is %s", r.input, we, r.truth)
	}
	for _, t := range p.tools {
		state, failed := t.state(ctx, r)
		if failed != nil {
			return "", fmt.Errorf("%s: %s: %w", r.input, t.name, failed)
		}
		line += fmt.Sprintf(" %s %-16s", t.name, state)
		if t.name == "unbound" && state != r.truth && r.differs == "" {
			err = errors.Join(err, fmt.Errorf("%s: unbound finds it %s, and the table does not say why", r.input, state))
		}
	}
	return line + " " + r.note + "\n", err
}

// timed are the zones whose checks are timed one by one. All servers silent take dnsviz and zonemaster-cli minutes.
var timed = []string{"lab-sec-good.com", "lab-sec-nokey.com", "lab-sec-expired.com", "lab-sec-halfsilent.com",
	"lab-deleg-good.com", "lab-deleg-lame.com", "lab-deleg-onesilent.com"}

// times prints how long each program takes for the same zones.
func (p proof) times(ctx context.Context, wanted *regexp.Regexp) error {
	ours := []tool{{"we", p.ours}}
	for _, domain := range timed {
		if !wanted.MatchString(domain) {
			continue
		}
		line := fmt.Sprintf("%-32s", domain)
		for _, t := range append(ours, p.tools...) {
			began := time.Now()
			if _, err := t.state(ctx, row{domain: domain, input: domain, qtype: dns.TypeA}); err != nil {
				return fmt.Errorf("%s: %s: %w", domain, t.name, err)
			}
			line += fmt.Sprintf(" %s %6.2f s", t.name, time.Since(began).Seconds())
		}
		fmt.Fprintln(p.out, line)
	}
	return ctx.Err()
}

// ours is the state that dns-delegation finds.
func (p proof) ours(ctx context.Context, r row) (string, error) {
	body, err := json.Marshal(map[string]string{"input": r.input})
	if err != nil {
		return "", err
	}
	var got struct {
		Data  struct{ DNSSEC string }
		Error string
	}
	err = p.post(ctx, p.url, body, &got)
	return got.Data.DNSSEC, errors.Join(err, failure(got.Error))
}

func failure(message string) error {
	if message == "" {
		return nil
	}
	return errors.New(message)
}

// resolver is where unbound listens, on the host of the lab's own resolver.
var resolver = netip.MustParseAddrPort("11.94.0.99:53")

// startUnbound runs a validating unbound with the lab's root, and waits until it answers.
func startUnbound(ctx context.Context, l *lab.Lab) error {
	path, err := exec.LookPath("unbound")
	if err != nil {
		return errors.New("unbound is missing: install Debian's package unbound")
	}
	settings := fmt.Sprintf(`server:
  interface: %s
  access-control: 0.0.0.0/0 allow
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  module-config: "validator iterator"
  root-hints: %q
  trust-anchor-file: %q
  val-nsec3-keysize-iterations: "1024 100 2048 100 4096 100"
  aggressive-nsec: no
  ede: yes
remote-control:
  control-enable: no
`, resolver.Addr(), l.RootHintsFile(), l.TrustAnchorsFile())
	file := filepath.Join(l.Dir(), "unbound.conf")
	if err := os.WriteFile(file, []byte(settings), 0o644); err != nil {
		return err
	}
	p, err := l.Start(lab.NearHost, "unbound", nil, path, "-d", "-c", file)
	if err != nil {
		return err
	}
	for end := time.Now().Add(15 * time.Second); ; {
		if m, err := ask(ctx, l, "example.com.", dns.TypeSOA, false); err == nil && m.Rcode == dns.RcodeSuccess {
			return nil
		}
		select {
		case <-p.Done():
			return fmt.Errorf("unbound ended: %s\n%s", p.Log(), p.Errors())
		case <-time.After(50 * time.Millisecond):
			if time.Now().After(end) {
				return fmt.Errorf("unbound does not answer: %s\n%s", p.Log(), p.Errors())
			}
		}
	}
}

func ask(ctx context.Context, l *lab.Lab, name string, qtype uint16, unchecked bool) (*dns.Msg, error) {
	c, err := l.Dial(ctx, "udp", resolver.String())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	q := new(dns.Msg).SetQuestion(name, qtype)
	q.SetEdns0(4096, true)
	q.CheckingDisabled = unchecked
	client := dns.Client{Timeout: 20 * time.Second} // unbound is patient with silent servers
	m, _, err := client.ExchangeWithConnContext(ctx, q, &dns.Conn{Conn: c, UDPSize: 4096})
	return m, err
}

// unbound is the state that unbound's answers show: bogus is SERVFAIL that goes away without validation.
func (p proof) unbound(ctx context.Context, r row) (string, error) {
	m, err := ask(ctx, p.lab, r.input+".", r.qtype, false)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "silent", nil
	case err != nil:
		return "", err
	case m.Rcode == dns.RcodeServerFailure:
		if m, err = ask(ctx, p.lab, r.input+".", r.qtype, true); err == nil && m.Rcode != dns.RcodeServerFailure {
			return lab.Bogus, nil
		}
		return "fails", err
	case m.AuthenticatedData:
		return lab.Secure, nil
	}
	return lab.Insecure, nil
}
