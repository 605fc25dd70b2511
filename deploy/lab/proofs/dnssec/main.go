// Command dnssec compares dns-delegation with a validating unbound on the lab's signed zones: what each makes of the
// question that shows the zone's fault, and the truth of the table. It takes root and unbound; dnsviz where it is
// installed and -dnsviz is set, which takes some seconds a zone.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/project"

	"github.com/miekg/dns"
)

func main() {
	only := flag.String("only", "", "a pattern of the domains; all where empty")
	viz := flag.Bool("dnsviz", false, "run dnsviz as well")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	flag.Parse()
	err := run(ctx, *only, *viz, os.Stdout)
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

func run(ctx context.Context, only string, viz bool, out io.Writer) (err error) {
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
	p := proof{lab: internet, url: "http://" + service.Gateway.Addr + "/api/tools/dns-delegation", out: out, viz: viz}
	return p.all(ctx, wanted)
}

type proof struct {
	lab *lab.Lab
	url string
	out io.Writer
	viz bool
}

// all prints the table. It fails where unbound does not come to the truth and the table does not say why.
func (p proof) all(ctx context.Context, wanted *regexp.Regexp) error {
	differences := 0
	for _, r := range rows() {
		if !wanted.MatchString(r.domain) {
			continue
		}
		we, err := p.ours(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.input, err)
		}
		they, err := p.unbound(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.input, err)
		}
		note := r.note
		switch {
		case they == r.truth:
		case r.differs != "":
			note += " (unbound differs: " + r.differs + ")"
		default:
			note, differences = note+" (UNBOUND DIFFERS)", differences+1
		}
		fmt.Fprintf(p.out, "%-36s %-5s truth %-8s we %-13s unbound %-8s dnsviz %-16s %s\n", r.input,
			dns.TypeToString[r.qtype], r.truth, we, they, p.dnsviz(ctx, r), note)
	}
	if differences > 0 {
		return fmt.Errorf("%d differences that the table does not explain", differences)
	}
	return ctx.Err()
}

// ours is the state that dns-delegation finds.
func (p proof) ours(ctx context.Context, r row) (string, error) {
	body, err := json.Marshal(map[string]string{"input": r.input})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	client := p.lab.HTTPClient()
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var got struct {
		Data  struct{ DNSSEC string }
		Error string
	}
	err = json.NewDecoder(resp.Body).Decode(&got)
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
	client := dns.Client{Timeout: 8 * time.Second}
	m, _, err := client.ExchangeWithConnContext(ctx, q, &dns.Conn{Conn: c, UDPSize: 4096})
	return m, err
}

// unbound is the state that unbound's answers show: bogus is SERVFAIL that goes away without validation.
func (p proof) unbound(ctx context.Context, r row) (string, error) {
	m, err := ask(ctx, p.lab, r.input+".", r.qtype, false)
	switch {
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

// dnsviz is the state of the zone's delegation in what dnsviz finds, and whether it found errors besides.
func (p proof) dnsviz(ctx context.Context, r row) string {
	path, err := exec.LookPath("dnsviz")
	if err != nil || !p.viz {
		return "-"
	}
	script := `"$0" probe -A -4 -d 0 -R "$1" -x ".+:$2" "$3" | "$0" grok -t "$4" -l info`
	cmd := exec.CommandContext(ctx, "ip", "netns", "exec", p.lab.Namespace(lab.ServiceHost), "sh", "-c", script, path,
		dns.TypeToString[r.qtype], rootHint(), r.input, p.lab.TrustAnchorsFile())
	out, err := cmd.Output()
	if err != nil {
		return "fails"
	}
	var found map[string]struct{ Delegation struct{ Status string } }
	if err := json.Unmarshal(out, &found); err != nil {
		return "fails"
	}
	state := strings.ToLower(found[r.domain+"."].Delegation.Status)
	if state == "" {
		state = "no status"
	}
	if bytes.Contains(out, []byte(`"errors": [`)) {
		state += ", errors"
	}
	return state
}

// rootHint is the first root server as dnsviz takes it.
func rootHint() string { return "a.root-servers.net=" + lab.RootServer().String() }
