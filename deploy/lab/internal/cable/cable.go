// Package cable is a long cable in user space, for kernels without netem: a TUN device in each of two namespaces, and
// one thread that carries packets between them after a fixed one-way delay, dropping every n-th where set.
//
// One thread serves all cables with ppoll, whose timeout is in nanoseconds: Go's own timers round up to a millisecond
// when a process idles, and a hand-over between goroutines costs as much as a short cable.
package cable

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"diagnostics/lab/internal/netns"
)

const (
	mtu       = 1500
	readBurst = 64 // packets read from one end before the others get their turn
	queueLen  = "10000"
)

// Spec says what a cable does to packets.
type Spec struct {
	// Delay is one way.
	Delay time.Duration
	// DropEvery drops every n-th packet of the direction from A to B to each destination; 0 drops none.
	DropEvery int
	// RepeatEvery lets every n-th packet of that direction arrive twice; 0 none.
	RepeatEvery int
	// HoldEvery lets every n-th packet of that direction arrive later than others by Hold, so that those overtake it; 0
	// none.
	HoldEvery int
	Hold      time.Duration
}

// Cable is a pair of TUN devices. It carries nothing until a Hub runs it.
type Cable struct {
	spec Spec
	fdA  int
	fdB  int
}

// New makes the devices: nameA in a, nameB in b. They are down, and vanish when the hub (or the process) ends.
func New(a *netns.NS, nameA string, b *netns.NS, nameB string, spec Spec) (*Cable, error) {
	fdA, err := openTUN(a, nameA)
	if err != nil {
		return nil, err
	}
	fdB, err := openTUN(b, nameB)
	if err != nil {
		unix.Close(fdA)
		return nil, err
	}
	return &Cable{spec: spec, fdA: fdA, fdB: fdB}, nil
}

// Close removes the devices of a cable that no hub runs.
func (c *Cable) Close() {
	unix.Close(c.fdA)
	unix.Close(c.fdB)
}

func openTUN(ns *netns.NS, name string) (fd int, err error) {
	err = ns.Do(func() error {
		fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		req, err := unix.NewIfreq(name)
		if err != nil {
			unix.Close(fd)
			return err
		}
		req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
			unix.Close(fd)
			return err
		}
		return nil
	})
	if err != nil {
		return -1, fmt.Errorf("make device %s in %s: %w", name, ns.Name(), err)
	}
	return fd, nil
}

// QueueLength is what the devices' txqueuelen should be, so that a burst is delayed and not lost.
func QueueLength() string { return queueLen }

// Hub is the thread that serves cables.
type Hub struct {
	lanes   []*lane
	wake    int
	stopped atomic.Bool
	done    chan error
}

// Run starts serving the cables. The hub owns them from here on.
func Run(cables []*Cable) (*Hub, error) {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	h := &Hub{wake: wake, done: make(chan error, 1)}
	for _, c := range cables {
		h.lanes = append(h.lanes,
			&lane{from: c.fdA, to: c.fdB, spec: c.spec},
			&lane{from: c.fdB, to: c.fdA, spec: Spec{Delay: c.spec.Delay}})
	}
	go func() { h.done <- h.serve() }()
	return h, nil
}

// Close stops the thread and removes the devices. The error is why it had stopped before, if it had.
func (h *Hub) Close() error {
	if h.stopped.Swap(true) {
		return nil
	}
	_, werr := unix.Write(h.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	err := <-h.done
	for _, l := range h.lanes {
		unix.Close(l.from)
	}
	unix.Close(h.wake)
	return errors.Join(werr, err)
}

func (h *Hub) serve() error {
	// Never unlocked: the thread ends with the goroutine, and no other inherits its settings.
	runtime.LockOSThread()
	if err := punctual(); err != nil {
		return err
	}
	polls := make([]unix.PollFd, 0, len(h.lanes)+1)
	for _, l := range h.lanes {
		polls = append(polls, unix.PollFd{Fd: int32(l.from), Events: unix.POLLIN})
	}
	polls = append(polls, unix.PollFd{Fd: int32(h.wake), Events: unix.POLLIN})
	start := time.Now()
	for {
		_, err := unix.Ppoll(polls, h.timeout(time.Since(start)), nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("ppoll: %w", err)
		}
		if h.stopped.Load() {
			return nil
		}
		for i, l := range h.lanes {
			if polls[i].Revents&unix.POLLIN != 0 {
				l.fill(start)
			}
		}
		for _, l := range h.lanes {
			l.drain(start)
		}
	}
}

// punctual lets the calling thread wake when it should.
func punctual() error {
	// The default slack of 50 µs would be added to every delay.
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("timer slack: %w", err)
	}
	// A cable does not grow longer on a busy machine. Without the right to it (the tests of this package) it does.
	err := unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_FIFO, Priority: 1,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK}, 0)
	if err != nil && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("real-time scheduling: %w", err)
	}
	return nil
}

// timeout is how long until the first packet is due; nil waits for ever.
func (h *Hub) timeout(now time.Duration) *unix.Timespec {
	var due time.Duration
	waiting := false
	for _, l := range h.lanes {
		if at, ok := l.nextDue(); ok && (!waiting || at < due) {
			due, waiting = at, true
		}
	}
	if !waiting {
		return nil
	}
	ts := unix.NsecToTimespec(max(due-now, 0).Nanoseconds())
	return &ts
}
