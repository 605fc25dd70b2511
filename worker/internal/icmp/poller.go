package icmp

import (
	"errors"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"diagnostics/shared/parallel"
	"diagnostics/worker/internal/exchange"

	"golang.org/x/sys/unix"
)

// poller reads the sockets of all flows of a family from one goroutine. It is an epoll instance of its own rather than
// Go's, which takes a socket that has nothing but an error queue to read for a broken one, and wants a goroutine with
// its buffers for every socket. Go's poller waits for this one.
type poller struct {
	file *os.File // the epoll instance
	raw  syscall.RawConn

	mu    sync.Mutex
	flows map[uint64]*datagramFlow
	last  uint64 // key that was given last; none is given twice

	closing chan struct{}
	once    sync.Once
	reader  parallel.Group
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	// Only what does not block is given to Go's poller.
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	file := os.NewFile(uintptr(fd), "epoll")
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &poller{file: file, raw: raw, flows: map[uint64]*datagramFlow{}, closing: make(chan struct{})}, nil
}

// add starts to read a flow's socket.
func (p *poller) add(f *datagramFlow) error {
	p.mu.Lock()
	p.last++
	f.key = p.last
	p.flows[f.key] = f
	p.mu.Unlock()
	// The kernel hands the two halves of the key back as they are.
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(uint32(f.key)), Pad: int32(uint32(f.key >> 32))}
	var added error
	err := p.raw.Control(func(fd uintptr) { added = unix.EpollCtl(int(fd), unix.EPOLL_CTL_ADD, f.fd, &event) })
	if err == nil && added == nil {
		return nil
	}
	p.remove(f)
	if err != nil {
		return errors.Join(exchange.ErrClosed, err)
	}
	return os.NewSyscallError("epoll_ctl", added)
}

// remove forgets a flow; closing its socket takes it out of the epoll instance.
func (p *poller) remove(f *datagramFlow) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.flows, f.key)
}

func (p *poller) find(e unix.EpollEvent) *datagramFlow {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flows[uint64(uint32(e.Fd))|uint64(uint32(e.Pad))<<32]
}

// read serves the sockets until the poller is closed.
func (p *poller) read() {
	events := make([]unix.EpollEvent, batchSize)
	b := newBuffers()
	for {
		n, err := p.wait(events)
		if err != nil {
			select {
			case <-p.closing:
				return
			case <-time.After(readPause):
				continue
			}
		}
		for _, e := range events[:n] {
			if f := p.find(e); f != nil {
				f.receive(b)
			}
		}
	}
}

func (p *poller) wait(events []unix.EpollEvent) (n int, err error) {
	var failed error
	err = p.raw.Read(func(fd uintptr) bool {
		n, failed = unix.EpollWait(int(fd), events, 0)
		return n > 0 || failed != nil && !errors.Is(failed, unix.EINTR)
	})
	if err != nil {
		return 0, err
	}
	return n, failed
}

// close ends the reader and closes the sockets of flows that are open still.
func (p *poller) close() error {
	p.once.Do(func() { close(p.closing) })
	err := p.file.Close()
	p.reader.Wait()
	p.mu.Lock()
	left := slices.Collect(maps.Values(p.flows))
	p.mu.Unlock()
	for _, f := range left {
		f.Close()
	}
	return err
}
