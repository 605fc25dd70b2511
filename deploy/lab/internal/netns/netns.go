// Package netns does things inside named network namespaces (those of ip-netns(8)) without leaving a thread behind in
// one: sockets keep the namespace in which they were made, so only their making needs the switch.
package netns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Dir is where ip-netns(8) keeps the names.
const Dir = "/run/netns"

// NS is an open namespace. It is safe for concurrent use until Close.
type NS struct {
	name string
	fd   int
	// own is that of this process, which needs no switch, nor the right to one.
	own bool
}

// Own is the namespace of this process.
func Own() *NS { return &NS{name: "own", fd: -1, own: true} }

// Open opens a namespace by name.
func Open(name string) (*NS, error) { return open(name, filepath.Join(Dir, name)) }

// OpenProcess opens the namespace of a process.
func OpenProcess(pid int) (*NS, error) {
	return open(fmt.Sprintf("of process %d", pid), fmt.Sprintf("/proc/%d/ns/net", pid))
}

func open(name, path string) (*NS, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open namespace %s: %w", name, err)
	}
	return &NS{name: name, fd: fd}, nil
}

// Name is the namespace's name.
func (n *NS) Name() string { return n.name }

// Close releases the namespace; it goes on living while it has a name, a process or a socket.
func (n *NS) Close() error {
	if n.own {
		return nil
	}
	return unix.Close(n.fd)
}

// Do calls fn on a thread that is inside the namespace. Goroutines that fn starts are not.
func (n *NS) Do(fn func() error) error {
	if n.own {
		return fn()
	}
	runtime.LockOSThread()
	home, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("open the thread's own namespace: %w", err)
	}
	defer unix.Close(home)
	if err := unix.Setns(n.fd, unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter namespace %s: %w", n.name, err)
	}
	defer func() {
		// A thread that cannot go home stays locked: the runtime ends it with its goroutine and never lends it again.
		if unix.Setns(home, unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
	}()
	return fn()
}

// Listen is net.Listen inside the namespace; address is a literal.
func (n *NS) Listen(network, address string) (l net.Listener, err error) {
	err = n.Do(func() error {
		// Without probes of whether the other end is still there: a server that never closes would send them to a client
		// that has, and tests that count packets would count those of the tests before.
		config := net.ListenConfig{KeepAlive: -1}
		l, err = config.Listen(context.Background(), network, address)
		return err
	})
	return l, err
}

// ListenPacket is net.ListenPacket inside the namespace; address is a literal.
func (n *NS) ListenPacket(network, address string) (c net.PacketConn, err error) {
	err = n.Do(func() error {
		c, err = (&net.ListenConfig{}).ListenPacket(context.Background(), network, address)
		return err
	})
	return c, err
}

// DialContext connects inside the namespace. Only literal addresses: a name would be looked up, and its addresses
// raced, by goroutines outside.
func (n *NS) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return n.DialFrom(ctx, &net.Dialer{}, network, address)
}

// DialFrom is DialContext with a dialer of any settings, such as the address that it connects from.
func (n *NS) DialFrom(ctx context.Context, d *net.Dialer, network, address string) (c net.Conn, err error) {
	if !literal(address) {
		return nil, fmt.Errorf("dial %q in %s: not a literal address", address, n.name)
	}
	err = n.Do(func() error {
		c, err = d.DialContext(ctx, network, address)
		return err
	})
	return c, err
}

func literal(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && net.ParseIP(host) != nil
}

// Sysctl writes settings of the namespace, named as in sysctl(8). A setting that this kernel does not have is left out:
// what the lab lifts varies with the kernel, and its own tests see whether the lifting worked.
func (n *NS) Sysctl(settings map[string]string) error {
	return n.Do(func() error {
		for name, value := range settings {
			path := "/proc/sys/" + strings.ReplaceAll(name, ".", "/")
			err := os.WriteFile(path, []byte(value), 0)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("sysctl %s in %s: %w", name, n.name, err)
			}
		}
		return nil
	})
}
