//go:build lab

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"diagnostics/shared/waittest"
	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/icmp"
	"diagnostics/worker/internal/labtest"

	"github.com/google/go-cmp/cmp"
)

const labRouters = 8

// labWorker is a worker process in the source namespace of a chain, asked by curl from within.
type labWorker struct {
	t       *testing.T
	chain   *labtest.Chain
	process *exec.Cmd
	log     *bytes.Buffer
	ended   chan error
}

const labAddress = "127.0.0.1:8081"

// rights are with what rights a worker is started: the arguments of setpriv(1), none for those of root.
type rights []string

var (
	asRoot rights
	// inDocker is what cap_drop: ALL, cap_add: NET_RAW and no-new-privileges leave to root in a container.
	inDocker = rights{"--bounding-set=-all,+net_raw", "--inh-caps=-all", "--no-new-privs"}
	// underSystemd is what User=, AmbientCapabilities= and CapabilityBoundingSet= of a unit give.
	underSystemd = rights{"--reuid=64999", "--regid=64998", "--clear-groups", "--inh-caps=-all,+net_raw",
		"--ambient-caps=-all,+net_raw", "--bounding-set=-all,+net_raw", "--no-new-privs"}
	// powerless is a user without any capability.
	powerless = rights{"--reuid=64999", "--regid=64998", "--clear-groups", "--inh-caps=-all", "--ambient-caps=-all",
		"--bounding-set=-all", "--no-new-privs"}
)

// rightsOf gives the rights with which a worker comes to each mode.
var rightsOf = map[icmp.Mode]rights{icmp.Raw: asRoot, icmp.Datagram: powerless}

// inEachMode runs a test once with raw sockets and once with datagram sockets: what holds for one must hold for both.
func inEachMode(t *testing.T, test func(*testing.T, icmp.Mode)) {
	for m := range rightsOf {
		t.Run(string(m), func(t *testing.T) { test(t, m) })
	}
}

// allowDatagrams lets every group of a namespace open datagram ICMP sockets, as most machines do.
func allowDatagrams(n *labtest.Namespace) { n.Sysctl("net.ipv4.ping_group_range=0 2147483647") }

// commandInLab makes a worker process in the source namespace of a chain.
func commandInLab(t *testing.T, chain *labtest.Chain, with rights, env ...string) *exec.Cmd {
	t.Helper()
	// exec(8) of the namespace becomes setpriv(1) and that the worker, so the process is the worker's own.
	args := []string{"netns", "exec", chain.Source.Name}
	if len(with) > 0 {
		args = append(append(args, "setpriv"), with...)
	}
	c := exec.Command("ip", append(args, labtest.Self(t))...)
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), roleVariable + "=" + asWorker, tokenSet, "LOG_LEVEL=debug"},
		env...)
	return c
}

func startInLab(t *testing.T, chain *labtest.Chain, env ...string) *labWorker {
	t.Helper()
	return startWith(t, chain, asRoot, env...)
}

// startIn starts a worker that comes to a mode.
func startIn(t *testing.T, chain *labtest.Chain, m icmp.Mode, env ...string) *labWorker {
	t.Helper()
	allowDatagrams(chain.Source)
	w := startWith(t, chain, rightsOf[m], env...)
	w.checkMode(m)
	return w
}

// checkMode checks that start-up line and readiness have the mode.
func (w *labWorker) checkMode(m icmp.Mode) {
	w.t.Helper()
	if want := fmt.Sprintf(`"mode":%q`, m); !strings.Contains(w.log.String(), want) {
		w.t.Errorf("the start-up line lacks %s: %s", want, w.log)
	}
	out, err := w.chain.Source.Command("curl", "-sS", "http://"+labAddress+workerapi.PathReady).Output()
	var r workerapi.Ready
	if err != nil || json.Unmarshal(out, &r) != nil || r.Mode != string(m) || r.Status != "ready" || len(r.Families) != 2 {
		w.t.Errorf("readyz: %v %s", err, out)
	}
}

func startWith(t *testing.T, chain *labtest.Chain, with rights, env ...string) *labWorker {
	t.Helper()
	w := &labWorker{t: t, chain: chain, log: &bytes.Buffer{}, ended: make(chan error, 1)}
	var err error
	w.process = commandInLab(t, chain, with, env...)
	w.process.Stderr = os.Stderr
	out, err := w.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.process.Start(); err != nil {
		t.Fatal(err)
	}
	started := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), "worker started") {
				w.log.WriteString(lines.Text())
				close(started)
			}
		}
		w.ended <- w.process.Wait()
	}()
	t.Cleanup(func() { _ = w.process.Process.Kill() })
	select {
	case <-started:
	case <-time.After(10 * time.Second):
		t.Fatal("the worker does not start")
	}
	return w
}

// ask runs a job and gives its envelope.
func (w *labWorker) ask(path string, target netip.Addr, data any) (workerapi.Envelope[json.RawMessage], error) {
	body := fmt.Sprintf(`{"target":%q}`, target)
	out, err := w.chain.Source.Command("curl", "-sS", "-m", "20", "-H", "Content-Type: application/json",
		"-H", "Authorization: Bearer "+someToken, "-d", body, "http://"+labAddress+path).Output()
	var e workerapi.Envelope[json.RawMessage]
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(out, &e); err != nil {
		return e, fmt.Errorf("%w in %s", err, out)
	}
	if e.Data == nil {
		return e, fmt.Errorf("no data: %s", e.Error)
	}
	return e, json.Unmarshal(*e.Data, data)
}

func (w *labWorker) trace(target netip.Addr) (workerapi.Traced, error) {
	var r workerapi.Traced
	_, err := w.ask(workerapi.PathTraceroute, target, &r)
	return r, err
}

// addressesOf gives the address of each hop, "*" for a silent and "?" for a hidden one.
func addressesOf(r workerapi.Traced) []string {
	var all []string
	for _, h := range r.Hops {
		switch {
		case h.Hidden:
			all = append(all, "?")
		case h.Address == nil:
			all = append(all, "*")
		default:
			all = append(all, *h.Address)
		}
	}
	return all
}

// systemTrace runs the system's traceroute and gives the address of each hop.
func systemTrace(t *testing.T, chain *labtest.Chain, target netip.Addr) []string {
	t.Helper()
	family := "-4"
	if target.Is6() {
		family = "-6"
	}
	out, err := chain.Source.Command("traceroute", family, "-n", "-I", "-q", "3", target.String()).CombinedOutput()
	if err != nil {
		t.Fatalf("traceroute: %v\n%s", err, out)
	}
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^ *\d+  (\S+)`).FindAllStringSubmatch(string(out), -1) {
		all = append(all, m[1])
	}
	return all
}

func TestTracesEqualTheSystemsTraceroute(t *testing.T) {
	t.Parallel()
	inEachMode(t, checkTracesEqualTheSystemsTraceroute)
}

func checkTracesEqualTheSystemsTraceroute(t *testing.T, m icmp.Mode) {
	chain := labtest.NewChain(t, labRouters)
	v4, v6 := chain.AddTargets(3)
	w := startIn(t, chain, m)
	for _, target := range append(v4, v6...) {
		r, err := w.trace(target)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(systemTrace(t, chain, target), addressesOf(r)); diff != "" {
			t.Errorf("%v (-traceroute +worker):\n%s", target, diff)
		}
		if diff := cmp.Diff(chain.Path(target), addressesOf(r)); diff != "" {
			t.Errorf("%v (-truth +worker):\n%s", target, diff)
		}
		if !r.Reached || r.StopReason != workerapi.StopReached || r.Raw != nil {
			t.Errorf("%v: %+v", target, r)
		}
	}
}

// Not parallel to other tests: fifty traces at once on two processors are load enough to prove something.
func TestFiftyTracesAtOnce(t *testing.T) {
	inEachMode(t, checkFiftyTracesAtOnce)
}

func checkFiftyTracesAtOnce(t *testing.T, m icmp.Mode) {
	chain := labtest.NewChain(t, labRouters)
	v4, v6 := chain.AddTargets(50)
	w := startIn(t, chain, m)
	for _, targets := range [][]netip.Addr{v4, v6} {
		if lost := w.traceAll(targets); lost > 0 {
			t.Errorf("%d probes without an answer", lost)
		}
	}
	// Foreign ICMP on the same socket: it may cost an answer where it overruns the links, but never gives a wrong one.
	flood := chain.Source.Command("ping", "-n", "-f", "-q", "-w", "10", v4[0].String())
	if err := flood.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = flood.Process.Kill(); _ = flood.Wait() }()
	for _, targets := range [][]netip.Addr{v4, v6} {
		t.Logf("beside the flood: %d of %d probes without an answer", w.traceAll(targets), 3*len(targets)*(labRouters+1))
	}
}

// traceAll traces all targets at once, holds each against the truth, and counts the probes that were not answered.
func (w *labWorker) traceAll(targets []netip.Addr) (lost int) {
	w.t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, target := range targets {
		all.Go(func() {
			r, err := w.trace(target)
			if err != nil {
				w.t.Errorf("%v: %v", target, err)
				return
			}
			if diff := cmp.Diff(w.chain.Path(target), addressesOf(r)); diff != "" {
				w.t.Errorf("%v (-truth +worker):\n%s", target, diff)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, h := range r.Hops {
				lost += h.Sent - h.Received
				if h.Sent != 3 || len(h.Addresses) != 1 {
					w.t.Errorf("%v: hop %d: %+v", target, h.TTL, h)
				}
			}
		})
	}
	all.Wait()
	return lost
}

func TestPingAndPacketLossOnTheWire(t *testing.T) {
	t.Parallel()
	inEachMode(t, checkPingAndPacketLossOnTheWire)
}

func checkPingAndPacketLossOnTheWire(t *testing.T, m icmp.Mode) {
	chain := labtest.NewChain(t, 2)
	w := startIn(t, chain, m, "INCLUDE_RAW_DIAGNOSTICS=true")
	for _, target := range []string{"11.0.2.2", "2a10:2::2"} {
		var p workerapi.Ping
		e, err := w.ask(workerapi.PathPing, netip.MustParseAddr(target), &p)
		if err != nil {
			t.Fatal(err)
		}
		if p.Sent != 10 || p.Received != 10 || p.Duplicates != 0 || p.StopReason != "completed" || *p.Replies[9].TTL != 62 ||
			p.Raw == nil {
			t.Errorf("%+v", p)
		}
		if *p.MinMs <= 0 || *p.MaxMs > 500 || *p.MinMs > *p.MedianMs || *p.MedianMs > *p.MaxMs {
			t.Errorf("min %v, median %v, max %v", *p.MinMs, *p.MedianMs, *p.MaxMs)
		}
		if e.DurationMs > 5*2000 {
			t.Errorf("took %v ms", e.DurationMs)
		}
	}
	// A firewall that drops every tenth request.
	nft := chain.Destination.Command("nft", `add table ip t; add chain ip t c { type filter hook input priority 0; };
		add rule ip t c icmp type echo-request numgen inc mod 10 == 0 drop`)
	if out, err := nft.CombinedOutput(); err != nil {
		t.Fatalf("nft: %v\n%s", err, out)
	}
	var l workerapi.PacketLoss
	if _, err := w.ask(workerapi.PathPacketLoss, netip.MustParseAddr("11.0.2.2"), &l); err != nil {
		t.Fatal(err)
	}
	if l.Sent != 50 || l.Received != 45 || l.LossPercent != 10 || len(l.Bursts) != 5 || l.StopReason != "completed" {
		t.Errorf("%d of %d, bursts %v", l.Received, l.Sent, l.Bursts)
	}
}

func TestRefusalsOnTheWire(t *testing.T) {
	t.Parallel()
	inEachMode(t, checkRefusalsOnTheWire)
}

func checkRefusalsOnTheWire(t *testing.T, m icmp.Mode) {
	chain := labtest.NewChain(t, 4)
	chain.Destination.IP("addr", "add", "11.0.200.1/32", "dev", "lo")
	chain.Destination.IP("addr", "add", "11.0.201.1/32", "dev", "lo")
	chain.Destination.IP("addr", "add", "11.0.202.1/32", "dev", "lo")
	nft := chain.Routers[2].Command("nft", `add table ip t; add chain ip t c { type filter hook forward priority 0; };
		add rule ip t c ip daddr 11.0.200.1 reject with icmp type admin-prohibited;
		add rule ip t c ip daddr 11.0.201.1 reject with icmp type host-unreachable;
		add rule ip t c ip daddr 11.0.202.1 drop`)
	if out, err := nft.CombinedOutput(); err != nil {
		t.Fatalf("nft: %v\n%s", err, out)
	}
	w := startIn(t, chain, m)
	for target, want := range map[string]struct {
		stop string
		hops []string
	}{
		"11.0.200.1": {"prohibited", []string{"11.0.0.2", "11.0.1.2", "11.0.2.2", "11.0.2.2"}},
		"11.0.201.1": {"unreachable", []string{"11.0.0.2", "11.0.1.2", "11.0.2.2", "11.0.2.2"}},
		"11.0.202.1": {"gapLimit", append([]string{"11.0.0.2", "11.0.1.2", "11.0.2.2"}, strings.Split(strings.Repeat("*", 10), "")...)},
	} {
		r, err := w.trace(netip.MustParseAddr(target))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.hops, addressesOf(r)); diff != "" || r.StopReason != want.stop || r.Reached {
			t.Errorf("%s: stopReason %s (-want +got):\n%s", target, r.StopReason, diff)
		}
	}
	var p workerapi.Ping
	if _, err := w.ask(workerapi.PathPing, netip.MustParseAddr("11.0.200.1"), &p); err != nil ||
		p.StopReason != "prohibited" || p.Received != 0 {
		t.Errorf("%v %+v", err, p)
	}
}

func TestPrivateHopsStayHidden(t *testing.T) {
	t.Parallel()
	inEachMode(t, checkPrivateHopsStayHidden)
}

func checkPrivateHopsStayHidden(t *testing.T, m icmp.Mode) {
	chain := labtest.NewChain(t, 3)
	// The second router answers from a private address.
	chain.Routers[1].IP("addr", "add", "10.7.7.7/32", "dev", "lo")
	chain.Routers[1].IP("route", "replace", "11.0.0.0/24", "via", "11.0.1.1", "src", "10.7.7.7")
	chain.Routers[1].Sysctl("net.ipv4.icmp_errors_use_inbound_ifaddr=0")
	nft := chain.Routers[1].Command("nft", `add table ip t; add chain ip t c { type nat hook postrouting priority 100; };
		add rule ip t c icmp type time-exceeded snat to 10.7.7.7`)
	if out, err := nft.CombinedOutput(); err != nil {
		t.Fatalf("nft: %v\n%s", err, out)
	}
	w := startIn(t, chain, m)
	target := netip.MustParseAddr("11.0.3.2")
	r, err := w.trace(target)
	if err != nil {
		t.Fatal(err)
	}
	if systemTrace(t, chain, target)[1] != "10.7.7.7" {
		t.Fatal("the lab's router does not answer from its private address")
	}
	if diff := cmp.Diff([]string{"11.0.0.2", "?", "11.0.2.2", "11.0.3.2"}, addressesOf(r)); diff != "" {
		t.Error(diff)
	}
	if b, _ := json.Marshal(r); bytes.Contains(b, []byte("10.7.7.7")) {
		t.Errorf("the private address is shown: %s", b)
	}
}

func TestAFamilyWithoutRoute(t *testing.T) {
	t.Parallel()
	chain := labtest.NewChain(t, 1)
	chain.Source.IP("-6", "route", "del", "default")
	w := startInLab(t, chain)
	var r workerapi.Traced
	e, err := w.ask(workerapi.PathTraceroute, netip.MustParseAddr("2a10:1::2"), &r)
	if err == nil || !strings.Contains(e.Error, "IPv6") {
		t.Errorf("%v, %+v", err, e)
	}
	if _, err := w.trace(netip.MustParseAddr("11.0.1.2")); err != nil {
		t.Error(err)
	}
}

// The running worker has no capability on any thread, runs as the configured user, and still measures.
func TestRightsAreGone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		with rights
		env  []string
		uid  string
		mode icmp.Mode
	}{
		"as root":              {asRoot, nil, "0", icmp.Raw},
		"from root to another": {asRoot, []string{"RUN_AS_UID=64999", "RUN_AS_GID=64998"}, "64999", icmp.Raw},
		"in Docker":            {inDocker, nil, "0", icmp.Raw},
		"under systemd":        {underSystemd, nil, "64999", icmp.Raw},
		"without capability":   {powerless, nil, "64999", icmp.Datagram},
		"from root without NET_RAW to another": {rights{"--bounding-set=-net_raw"}, []string{"RUN_AS_UID=64999", "RUN_AS_GID=64998"},
			"64999", icmp.Datagram},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := labtest.NewChain(t, 1)
			if tt.mode == icmp.Datagram {
				allowDatagrams(chain.Source)
			}
			w := startWith(t, chain, tt.with, tt.env...)
			w.checkMode(tt.mode)
			for _, target := range []string{"11.0.1.2", "2a10:1::2"} {
				if r, err := w.trace(netip.MustParseAddr(target)); err != nil || !r.Reached {
					t.Errorf("%v %+v", err, r)
				}
			}
			w.checkRightsAreGone(tt.uid)
		})
	}
}

func (w *labWorker) checkRightsAreGone(uid string) {
	w.t.Helper()
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", w.process.Process.Pid))
	if len(threads) < 2 {
		w.t.Fatalf("%d threads", len(threads))
	}
	for _, path := range threads {
		status, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for _, line := range []string{"CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "CapInh:\t0000000000000000",
			"CapAmb:\t0000000000000000", "NoNewPrivs:\t1", "Uid:\t" + uid + "\t" + uid} {
			if !strings.Contains(string(status), line) {
				w.t.Errorf("%s lacks %q", path, line)
			}
		}
		if path == threads[0] {
			said := regexp.MustCompile(`(?m)^(Name|Uid|Gid|Cap\w+|NoNewPrivs):.*$`).FindAllString(string(status), -1)
			w.t.Log(strings.Join(said, "; "))
		}
	}
}

// A worker without the needed privileges names what it lacks and how to grant it.
func TestRightsThatDoNotSuffice(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		with   rights
		groups string // of net.ipv4.ping_group_range
		env    []string
		status int
		says   []string
	}{
		"nothing":         {powerless, "1 0", nil, exitNoRights, []string{"NET_RAW", "setcap", "cap_add", "AmbientCapabilities", `net.ipv4.ping_group_range="64998 64998"`}},
		"another's group": {powerless, "0 0", nil, exitNoRights, []string{`net.ipv4.ping_group_range="64998 64998"`}},
		"a group that it leaves": {rights{"--bounding-set=-net_raw"}, "0 0", []string{"RUN_AS_UID=64999", "RUN_AS_GID=64998"}, exitNoRights,
			[]string{`net.ipv4.ping_group_range="64998 64998"`}},
		"no change of user": {inDocker, "1 0", []string{"RUN_AS_UID=64999"}, exitFailure, []string{"RUN_AS_UID", "CAP_SETUID", "CAP_SETGID"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := &labtest.Chain{Source: labtest.NewNamespace(t, "src")}
			chain.Source.Sysctl("net.ipv4.ping_group_range=" + tt.groups)
			c := commandInLab(t, chain, tt.with, tt.env...)
			var stderr bytes.Buffer
			c.Stderr = &stderr
			stop := time.AfterFunc(10*time.Second, func() { _ = c.Process.Kill() })
			defer stop.Stop()
			err := c.Run()
			if c.ProcessState == nil || c.ProcessState.ExitCode() != tt.status || !isOneLine(stderr.String()) {
				t.Errorf("%v: %s", err, &stderr)
			}
			for _, part := range tt.says {
				if !strings.Contains(stderr.String(), part) {
					t.Errorf("%q lacks %q", &stderr, part)
				}
			}
		})
	}
}

// A job in flight when the signal comes is finished; then the worker ends.
func TestDrain(t *testing.T) {
	t.Parallel()
	chain := labtest.NewChain(t, 1)
	w := startInLab(t, chain, "SHUTDOWN_DELAY=3s", "METRICS_LISTEN_ADDR=127.0.0.1:9091")
	var l workerapi.PacketLoss
	done := make(chan error)
	go func() {
		_, err := w.ask(workerapi.PathPacketLoss, netip.MustParseAddr("11.0.1.2"), &l)
		done <- err
	}()
	metric := func() string {
		out, _ := chain.Source.Command("curl", "-s", "http://127.0.0.1:9091/metrics").Output()
		return string(out)
	}
	waittest.Until(t, "the job runs", func() bool {
		return strings.Contains(metric(), "diagnostics_worker_jobs_in_flight 1\n")
	})
	if err := w.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "readyz is draining, 503", func() bool {
		out, _ := chain.Source.Command("curl", "-s", "-w", " %{http_code}", "http://"+labAddress+workerapi.PathReady).Output()
		return strings.Contains(string(out), `"draining"`) && strings.HasSuffix(string(out), " 503")
	})
	if err := <-done; err != nil || l.Received != 50 {
		t.Errorf("%v, %d received", err, l.Received)
	}
	select {
	case err := <-w.ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the worker does not end")
	}
}

// A job whose client leaves stops sending within 100 ms; five times that is asserted.
func TestProbesEndWithTheClient(t *testing.T) {
	t.Parallel()
	chain := labtest.NewChain(t, 1)
	startInLab(t, chain, "METRICS_LISTEN_ADDR=127.0.0.1:9091")
	metric := func(name string) string {
		out, _ := chain.Source.Command("curl", "-s", "http://127.0.0.1:9091/metrics").Output()
		return regexp.MustCompile(`(?m)^` + name + ` \S+$`).FindString(string(out))
	}
	const jobs, sent = "diagnostics_worker_jobs_in_flight", "diagnostics_worker_packets_sent_total"
	client := chain.Source.Command("curl", "-s", "-m", "1", "-H", "Content-Type: application/json",
		"-H", "Authorization: Bearer "+someToken, "-d", `{"target":"11.0.1.2"}`, "http://"+labAddress+workerapi.PathPacketLoss)
	if err := client.Run(); err == nil {
		t.Fatal("a packet-loss job within a second")
	}
	if !waittest.Within(500*time.Millisecond, func() bool { return metric(jobs) == jobs+" 0" }) {
		t.Error("the job goes on")
	}
	before := metric(sent)
	time.Sleep(500 * time.Millisecond) // that nothing more is sent has no sign
	if after := metric(sent); after != before || before == "" || before == sent+" 0" {
		t.Errorf("%q, half a second later %q", before, after)
	}
}
