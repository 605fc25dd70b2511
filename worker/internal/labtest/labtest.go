//go:build lab

// Package labtest builds small private internets of network namespaces for tests that need real sockets. It needs root
// and iproute2; tests that use it carry the build tag lab. Nothing in a namespace can reach the machine's own network,
// and each test's namespaces are deleted when it ends; what a killed test left behind, the next one deletes.
package labtest

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

const prefix = "wk-lab-"

var serial atomic.Int64

// Namespace is a network namespace with its loopback up.
type Namespace struct {
	t    testing.TB
	Name string
}

// NewNamespace makes a namespace that lasts as long as the test.
func NewNamespace(t testing.TB, role string) *Namespace {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("tests with the build tag lab need root")
	}
	n := &Namespace{t: t, Name: fmt.Sprintf("%s%d-%d-%s", prefix, os.Getpid(), serial.Add(1), role)}
	reap()
	run(t, "ip", "netns", "add", n.Name)
	t.Cleanup(func() { run(t, "ip", "netns", "del", n.Name) })
	n.IP("link", "set", "lo", "up")
	// Duplicate address detection would keep IPv6 silent for the first second.
	n.Sysctl("net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0")
	return n
}

// reap deletes the namespaces of tests whose process is gone.
func reap() {
	left, _ := filepath.Glob("/run/netns/" + prefix + "*")
	for _, path := range left {
		name := filepath.Base(path)
		pid, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "-")
		if _, err := strconv.Atoi(pid); err != nil {
			continue
		}
		if _, err := os.Stat("/proc/" + pid); os.IsNotExist(err) {
			_ = exec.CommandContext(context.Background(), "ip", "netns", "del", name).Run()
		}
	}
}

func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(context.Background(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// IP runs ip(8) on the namespace.
func (n *Namespace) IP(args ...string) {
	n.t.Helper()
	run(n.t, "ip", append([]string{"-n", n.Name}, args...)...)
}

// TC runs tc(8) on the namespace.
func (n *Namespace) TC(args ...string) {
	n.t.Helper()
	run(n.t, "tc", append([]string{"-n", n.Name}, args...)...)
}

// Command makes a command that runs in the namespace.
func (n *Namespace) Command(name string, args ...string) *exec.Cmd {
	return exec.CommandContext(n.t.Context(), "ip", append([]string{"netns", "exec", n.Name, name}, args...)...)
}

// Self gives the path of a copy of the running test binary that every user may run: go test builds where only its own
// user may look. It lasts as long as the test.
func Self(t testing.TB) string {
	t.Helper()
	running, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	run(t, "install", "-m", "0755", running, dir+"/test")
	run(t, "chmod", "0755", dir)
	return dir + "/test"
}

// Sysctl sets kernel parameters of the namespace (name=value).
func (n *Namespace) Sysctl(settings ...string) {
	n.t.Helper()
	c := n.Command("sysctl", append([]string{"-qw"}, settings...)...)
	if out, err := c.CombinedOutput(); err != nil {
		n.t.Fatalf("sysctl %v: %v\n%s", settings, err, out)
	}
}

// Do runs f on a thread in the namespace. Sockets that f opens stay in it.
func (n *Namespace) Do(f func()) {
	n.t.Helper()
	done := make(chan error)
	go func() {
		// The thread is never unlocked, so it ends with the goroutine instead of carrying the namespace elsewhere.
		runtime.LockOSThread()
		fd, err := unix.Open("/run/netns/"+n.Name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			err = unix.Setns(fd, unix.CLONE_NEWNET)
			unix.Close(fd)
		}
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		n.t.Fatal(err)
	}
}

// Chain is a row of namespaces: a source, routers and a destination, joined by links in both address families. Link i
// (from 0, at the source) is 11.0.i.0/24 and 2a10:i::/64, .1 towards the source.
type Chain struct {
	Source      *Namespace
	Routers     []*Namespace
	Destination *Namespace
}

// NewChain builds a chain. Its routers answer without a rate limit.
func NewChain(t testing.TB, routers int) *Chain {
	t.Helper()
	c := &Chain{Source: NewNamespace(t, "src")}
	for i := range routers {
		c.Routers = append(c.Routers, NewNamespace(t, fmt.Sprint("r", i+1)))
	}
	c.Destination = NewNamespace(t, "dst")
	row := append(append([]*Namespace{c.Source}, c.Routers...), c.Destination)
	for _, n := range row {
		n.Sysctl("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1", "net.ipv4.icmp_ratelimit=0",
			"net.ipv6.icmp.ratelimit=0", "net.ipv4.icmp_msgs_per_sec=1000000", "net.ipv4.icmp_msgs_burst=1000000")
	}
	for i, left := range row[:len(row)-1] {
		right := row[i+1]
		left.IP("link", "add", "right", "type", "veth", "peer", "name", "left", "netns", right.Name)
		left.IP("addr", "add", fmt.Sprintf("11.0.%d.1/24", i), "dev", "right")
		right.IP("addr", "add", fmt.Sprintf("11.0.%d.2/24", i), "dev", "left")
		left.IP("addr", "add", fmt.Sprintf("2a10:%d::1/64", i), "dev", "right", "nodad")
		right.IP("addr", "add", fmt.Sprintf("2a10:%d::2/64", i), "dev", "left", "nodad")
		left.IP("link", "set", "right", "up")
		right.IP("link", "set", "left", "up")
		left.IP("route", "add", "default", "via", fmt.Sprintf("11.0.%d.2", i))
		left.IP("-6", "route", "add", "default", "via", fmt.Sprintf("2a10:%d::2", i))
		if i > 0 {
			right.IP("route", "add", "11.0.0.0/24", "via", fmt.Sprintf("11.0.%d.1", i))
			right.IP("-6", "route", "add", "2a10:0::/64", "via", fmt.Sprintf("2a10:%d::1", i))
		}
	}
	c.await(t, fmt.Sprintf("11.0.%d.2", routers))
	c.await(t, fmt.Sprintf("2a10:%d::2", routers))
	return c
}

// await waits until the destination answers: a new link takes up to a second before IPv6 uses it.
func (c *Chain) await(t testing.TB, address string) {
	t.Helper()
	for range 50 {
		if c.Source.Command("ping", "-n", "-c", "1", "-W", "0.2", address).Run() == nil {
			return
		}
	}
	t.Fatalf("%s does not answer", address)
}

// AddTargets gives the destination n more addresses in both families.
func (c *Chain) AddTargets(n int) (v4, v6 []netip.Addr) {
	for i := 1; i <= n; i++ {
		a4 := netip.AddrFrom4([4]byte{11, 0, 100, byte(i)})
		a6 := netip.MustParseAddr(fmt.Sprintf("2a10:100::%x", i))
		c.Destination.IP("addr", "add", a4.String()+"/32", "dev", "lo")
		c.Destination.IP("addr", "add", a6.String()+"/128", "dev", "lo", "nodad")
		v4, v6 = append(v4, a4), append(v6, a6)
	}
	return v4, v6
}

// Path gives the addresses that a trace to dst passes: the routers' and dst itself.
func (c *Chain) Path(dst netip.Addr) []string {
	var path []string
	for i := range c.Routers {
		a := netip.AddrFrom4([4]byte{11, 0, byte(i), 2})
		if dst.Is6() {
			a = netip.MustParseAddr(fmt.Sprintf("2a10:%d::2", i))
		}
		path = append(path, a.String())
	}
	return append(path, dst.String())
}

// The parts of an ICMP error that quotes an echo request, in octets.
const (
	icmpHeader = 8
	header4    = 20
	header6    = 40
)

// Storm sends the source ICMP errors of a type and code, one for each identifier and each of the sequence numbers, like
// an off-path attacker who only knows that dst is probed. Each quotes an echo request to dst up to the end of its ICMP
// header. It returns how many were sent.
func (c *Chain) Storm(t testing.TB, dst netip.Addr, typ, code byte, seqs ...uint16) (sent int) {
	t.Helper()
	conn, source := c.Attacker(t, dst.Is6())
	defer conn.Close()
	batches := ipv4.NewPacketConn(conn) // sends ICMPv6 just as well
	batch := make([]ipv4.Message, 0, 256)
	for range cap(batch) {
		batch = append(batch, ipv4.Message{Buffers: [][]byte{forgedError(dst, typ, code)}, Addr: source})
	}
	n := 0
	flush := func() {
		for left := batch[:n]; len(left) > 0; {
			written, err := batches.WriteBatch(left, 0)
			if err != nil {
				t.Fatal(err)
			}
			sent, left = sent+written, left[written:]
		}
		n = 0
	}
	for id := 1; id <= 0xffff; id++ {
		for _, seq := range seqs {
			fill(batch[n].Buffers[0], uint16(id), seq)
			if n++; n == len(batch) {
				flush()
			}
		}
	}
	flush()
	return sent
}

// Attacker opens a raw socket on the first router and gives the source's address.
func (c *Chain) Attacker(t testing.TB, v6 bool) (net.PacketConn, *net.IPAddr) {
	t.Helper()
	network, from, to := "ip4:icmp", "11.0.0.2", "11.0.0.1"
	if v6 {
		network, from, to = "ip6:ipv6-icmp", "2a10:0::2", "2a10:0::1"
	}
	var conn net.PacketConn
	var err error
	c.Routers[0].Do(func() { conn, err = net.ListenPacket(network, from) })
	if err != nil {
		t.Fatal(err)
	}
	return conn, &net.IPAddr{IP: net.ParseIP(to)}
}

// forgedError makes an error that lacks what differs from one to the next.
func forgedError(dst netip.Addr, typ, code byte) []byte {
	if dst.Is6() {
		b := make([]byte, icmpHeader+header6+icmpHeader)
		b[0], b[1] = typ, code
		quote := b[icmpHeader:]
		quote[0], quote[5], quote[6], quote[7] = 0x60, 40, 58, 1
		copy(quote[8:], netip.MustParseAddr("2a10::1").AsSlice())
		copy(quote[24:], dst.AsSlice())
		quote[header6] = 128
		return b
	}
	b := make([]byte, icmpHeader+header4+icmpHeader)
	b[0], b[1] = typ, code
	quote := b[icmpHeader:]
	quote[0], quote[3], quote[8], quote[9] = 0x45, header4+40, 1, 1
	copy(quote[12:], []byte{11, 0, 0, 1})
	copy(quote[16:], dst.AsSlice())
	quote[header4] = 8
	// The quoted checksum that fill writes balances identifier and sequence number, so that one checksum is right for all.
	fill(b, 0, 0)
	var sum uint32
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(b[2:], ^uint16(sum))
	return b
}

// fill writes identifier and sequence number into the quote, and a checksum that is a guess like any other.
func fill(b []byte, id, seq uint16) {
	quoted := b[len(b)-icmpHeader:]
	sum := uint32(id) + uint32(seq)
	binary.BigEndian.PutUint16(quoted[2:], ^uint16(sum>>16+sum&0xffff))
	binary.BigEndian.PutUint16(quoted[4:], id)
	binary.BigEndian.PutUint16(quoted[6:], seq)
}
