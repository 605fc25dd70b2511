package hostroute

import (
	"errors"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Kernel asks the kernel of the network namespace that it was opened in. It is safe for concurrent use: the questions
// go one after the other, as the kernel's own lock would make them.
type Kernel struct {
	packets Packets

	mu   sync.Mutex
	fd   int // -1 where none is open
	port uint32
	seq  uint32
	// buffer has room for the answer of a route over some hundred links.
	buffer []byte
}

// Open opens the socket for questions about such packets. Where that fails now, the first question tries again.
func Open(p Packets) *Kernel {
	k := &Kernel{packets: p, fd: -1, buffer: make([]byte, 8<<10)}
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.open()
	return k
}

// open makes the socket that all questions share. It stays open whatever happens: answers that come too late are told
// by their number, and a host that lacks files would get no other socket.
func (k *Kernel) open() error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	port, err := bind(fd)
	if err != nil {
		_ = unix.Close(fd)
		return err
	}
	k.fd, k.port = fd, port
	return nil
}

// bind gives the socket a port number, by which the kernel addresses its answers.
func bind(fd int) (port uint32, err error) {
	patience := unix.NsecToTimeval(answerWithin.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	address, is := own.(*unix.SockaddrNetlink)
	if !is {
		return 0, ErrNoAnswer
	}
	return address.Pid, nil
}

// To tells where packets to the address would go now. An error means that the kernel could not be asked; it is one of
// the system's, or ErrNoAnswer.
func (k *Kernel) To(a netip.Addr) (Kind, error) {
	route, err := k.Route(a)
	return route.Kind, err
}

// Route is To with the links.
func (k *Kernel) Route(a netip.Addr) (route Route, err error) {
	if !usable(a) {
		return Route{}, ErrNoAnswer
	}
	q := question{address: a, packets: k.packets}
	err = k.ask(func(seq, port uint32) []byte {
		q.seq, q.port = seq, port
		return q.message()
	}, func(answer []byte) (mine bool, err error) {
		route, mine, err = q.read(answer)
		return mine, err
	})
	return route, err
}

// Link tells of a link. Errors are those of To.
func (k *Kernel) Link(index int) (link Link, err error) {
	q := linkQuestion{index: index}
	err = k.ask(func(seq, port uint32) []byte {
		q.seq, q.port = seq, port
		return q.message()
	}, func(answer []byte) (mine bool, err error) {
		link, mine, err = q.read(answer)
		return mine, err
	})
	return link, err
}

// ask sends a question with a number of its own and has read look for the answer.
func (k *Kernel) ask(message func(seq, port uint32) []byte, read func([]byte) (mine bool, err error)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fd < 0 {
		if err := k.open(); err != nil {
			return err
		}
	}
	k.seq++
	if err := k.send(message(k.seq, k.port)); err != nil {
		return err
	}
	return k.receive(read)
}

// Close closes the socket. The next question would open another.
func (k *Kernel) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fd >= 0 {
		_ = unix.Close(k.fd)
	}
	k.fd = -1
}

func (k *Kernel) send(message []byte) error {
	for {
		err := unix.Sendto(k.fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("sendto", err)
		}
	}
}

// receive reads until the answer to the question comes.
func (k *Kernel) receive(read func([]byte) (mine bool, err error)) error {
	for end := time.Now().Add(answerWithin); time.Now().Before(end); {
		n, _, flags, from, err := unix.Recvmsg(k.fd, k.buffer, nil, 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN): // SO_RCVTIMEO
			return ErrNoAnswer
		case err != nil:
			return os.NewSyscallError("recvmsg", err)
		case !ofKernel(from):
			continue
		}
		if flags&unix.MSG_TRUNC != 0 { // the rest is lost, and no second answer comes
			return ErrNoAnswer
		}
		if mine, err := read(k.buffer[:n]); mine {
			return err
		}
	}
	return ErrNoAnswer
}

// ofKernel reports whether the kernel has sent a message: any process of this host may, but only the kernel with the
// port number 0.
func ofKernel(from unix.Sockaddr) bool {
	sender, is := from.(*unix.SockaddrNetlink)
	return is && sender.Pid == 0
}
