// Package lab builds a private internet of network namespaces: routers with public addresses in both families, long
// cables, resolvers, web and TLS servers of every temper, and a host on which the shipped binaries run unmodified. No
// device joins it to the outside: what is sent in it stays in it. It takes root, iproute2 and nftables.
//
// Everything that it makes is named lab-<id>-…, and is taken away by Close, by a watchdog when the process is killed,
// and by the next Build when the watchdog was killed too.
package lab

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"diagnostics/lab/internal/cable"
	"diagnostics/lab/internal/netns"
	"diagnostics/lab/internal/site"
	"diagnostics/lab/internal/tlsserver"
	"diagnostics/lab/internal/zone"
)

// Options change what Build makes. The zero value is the whole lab.
type Options struct {
	// ID is six hexadecimal digits; empty takes random ones.
	ID string
	// NetworkOnly leaves out the servers: routers, cables and hosts alone.
	NetworkOnly bool
	// Examples adds the names that the pages offer to try; see site.Examples. Tests have answers of their own for them.
	Examples bool
}

// Lab is a running lab. Its methods are safe for concurrent use.
type Lab struct {
	id    string
	reg   *registration
	graph *graph
	links []link
	ns    map[string]*netns.NS
	hub   *cable.Hub

	ca        *site.CA
	examples  bool
	catalogue []site.Site
	tls       []tlsserver.Server
	table     *zone.Table
	public    map[string]*zone.Table // what each of PublicResolvers has beside table

	mu        sync.Mutex
	processes []*Process
	closers   []func() error
}

// Build makes a lab. When it fails, or ctx ends, what it had made is taken away again.
func Build(ctx context.Context, opts Options) (*Lab, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("the lab makes network namespaces and must run as root")
	}
	id := opts.ID
	if id == "" {
		b := make([]byte, 3)
		if _, err := rand.Read(b); err != nil {
			return nil, err
		}
		id = hex.EncodeToString(b)
	}
	if !namespaceName.MatchString("lab-" + id + "-") {
		return nil, fmt.Errorf("lab id %q: want six hexadecimal digits", id)
	}
	reg, err := register(id)
	if err != nil {
		return nil, fmt.Errorf("register the lab: %w", err)
	}
	l := &Lab{id: id, reg: reg, ns: map[string]*netns.NS{}, examples: opts.Examples}
	steps := []func(context.Context) error{l.buildNetwork}
	if !opts.NetworkOnly {
		steps = append(steps, l.startServers)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// Dir is the lab's directory: certificates and logs. It goes with the lab.
func (l *Lab) Dir() string { return l.reg.dir }

// Namespace is the full name of a node's namespace, for ip-netns(8).
func (l *Lab) Namespace(node string) string { return "lab-" + l.id + "-" + node }

// Close takes the lab away without a trace.
func (l *Lab) Close() error {
	l.mu.Lock()
	processes, closers := l.processes, l.closers
	l.processes, l.closers = nil, nil
	l.mu.Unlock()
	var errs []error
	for i := len(closers) - 1; i >= 0; i-- {
		errs = append(errs, closers[i]())
	}
	for _, p := range processes {
		p.Kill()
	}
	for _, ns := range l.ns {
		errs = append(errs, ns.Close())
	}
	l.ns = nil
	return errors.Join(append(errs, l.reg.end())...)
}

func (l *Lab) onClose(f func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closers = append(l.closers, f)
}

func (l *Lab) buildNetwork(ctx context.Context) error {
	nodes, links := topology()
	l.graph, l.links = newGraph(nodes, links), links
	if err := l.addNamespaces(ctx); err != nil {
		return err
	}
	if err := l.addLinks(ctx); err != nil {
		return err
	}
	for _, name := range l.graph.order {
		if err := l.setUp(ctx, name); err != nil {
			return fmt.Errorf("set up %s: %w", name, err)
		}
	}
	if err := l.startLiar(); err != nil {
		return err
	}
	return l.writeResolvConf()
}

func (l *Lab) addNamespaces(ctx context.Context) error {
	var batch bytes.Buffer
	for _, name := range l.graph.order {
		fmt.Fprintf(&batch, "netns add %s\n", l.Namespace(name))
	}
	if _, err := tool(ctx, batch.String(), "ip", "-batch", "-"); err != nil {
		return err
	}
	for _, name := range l.graph.order {
		ns, err := netns.Open(l.Namespace(name))
		if err != nil {
			return err
		}
		l.ns[name] = ns
		settings := sysctls
		if name != ServiceHost {
			settings = maps.Clone(sysctls)
			maps.Copy(settings, forwarding)
		}
		if err := ns.Sysctl(settings); err != nil {
			return err
		}
	}
	return nil
}

// forwarding is everywhere but on the service's host: a host that is a router announces itself to the other routers,
// and the uplink is to carry nothing that the service did not send.
var forwarding = map[string]string{
	"net.ipv4.ip_forward":              "1",
	"net.ipv6.conf.all.forwarding":     "1",
	"net.ipv6.conf.default.forwarding": "1",
}

// sysctls are the same everywhere. They come before the devices, which take their settings from "default".
var sysctls = map[string]string{
	"net.ipv4.conf.all.rp_filter":                "0",
	"net.ipv4.conf.default.rp_filter":            "0",
	"net.ipv6.conf.all.accept_ra":                "0",
	"net.ipv6.conf.default.accept_ra":            "0",
	"net.ipv6.conf.default.accept_dad":           "0",
	"net.ipv6.conf.default.addr_gen_mode":        "1", // no link-local addresses: nothing to solicit with
	"net.ipv6.ip_nonlocal_bind":                  "1", // servers listen on single addresses of a local range
	"net.ipv4.icmp_ratelimit":                    "0",
	"net.ipv6.icmp.ratelimit":                    "0",
	"net.ipv4.icmp_msgs_per_sec":                 "100000",
	"net.ipv4.icmp_msgs_burst":                   "100000",
	"net.ipv6.conf.default.dad_transmits":        "0",
	"net.ipv6.conf.default.router_solicitations": "0",
	// Under load a host would run out of ports for the minute after each connection.
	"net.ipv4.tcp_tw_reuse":        "1",
	"net.ipv4.ip_local_port_range": "10000 65535",
}

func (l *Lab) addLinks(ctx context.Context) error {
	var batch bytes.Buffer
	var cables []*cable.Cable
	for i, k := range l.links {
		devA, devB := k.device(k.a), k.device(k.b)
		if k.isCable() {
			c, err := cable.New(l.ns[k.a], devA, l.ns[k.b], devB, k.cable())
			if err != nil {
				closeAll(cables)
				return err
			}
			cables = append(cables, c)
			continue
		}
		mac := fmt.Sprintf("02:00:00:00:00:%02x", i+1)
		fmt.Fprintf(&batch, "link add name %s address %s netns %s arp off type veth peer name %s address %s netns %s\n",
			devA, mac, l.Namespace(k.a), devB, mac, l.Namespace(k.b))
	}
	hub, err := cable.Run(cables)
	if err != nil {
		closeAll(cables)
		return err
	}
	l.hub = hub
	l.onClose(hub.Close)
	_, err = tool(ctx, batch.String(), "ip", "-batch", "-")
	return err
}

func closeAll(cables []*cable.Cable) {
	for _, c := range cables {
		c.Close()
	}
}

func (l *Lab) setUp(ctx context.Context, name string) error {
	var batch bytes.Buffer
	for _, k := range l.links {
		switch {
		case k.a != name && k.b != name:
		case k.isCable():
			fmt.Fprintf(&batch, "link set %s txqueuelen %s\n", k.device(name), cable.QueueLength())
		default:
			fmt.Fprintf(&batch, "link set %s arp off mtu %d\n", k.device(name), cmp.Or(k.mtu, 1500))
		}
	}
	batch.WriteString(l.graph.setup(name))
	if _, err := l.toolIn(ctx, name, batch.String(), "ip", "-batch", "-"); err != nil {
		return err
	}
	if routing := l.graph.rules(name); routing != "" {
		for _, family := range []string{"-4", "-6"} {
			if _, err := l.toolIn(ctx, name, routing, "ip", family, "-batch", "-"); err != nil {
				return err
			}
		}
	}
	rules := l.graph.nodes[name].rules()
	if rules == "" {
		return nil
	}
	_, err := l.toolIn(ctx, name, rules, "nft", "-f", "-")
	return err
}

// toolIn runs a command inside a node's namespace.
func (l *Lab) toolIn(ctx context.Context, node, stdin, name string, args ...string) (out []byte, err error) {
	ns, ok := l.ns[node]
	if !ok {
		return nil, fmt.Errorf("the lab has no node %q", node)
	}
	err = ns.Do(func() error {
		out, err = tool(ctx, stdin, name, args...)
		return err
	})
	return out, err
}

// tool runs a command that must not outlive this process: a killed lab is taken away at once, and nothing may be made
// in it afterwards. The signal comes at the death of the starting thread, so the thread is kept until the command ends.
func tool(ctx context.Context, stdin, name string, args ...string) ([]byte, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stdin = bytes.NewReader([]byte(stdin))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("%s %v: %w: %s", filepath.Base(name), args, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}

// Exec runs a command of the system inside a node, and gives its standard output. It dies with this process.
func (l *Lab) Exec(ctx context.Context, node, name string, args ...string) ([]byte, error) {
	return l.toolIn(ctx, node, "", name, args...)
}
