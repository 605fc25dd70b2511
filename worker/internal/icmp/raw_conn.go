package icmp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"diagnostics/shared/parallel"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

const (
	// A burst of answers must fit until the reader runs: about 8,000 small packets.
	receiveBuffer = 8 << 20
	sendBuffer    = 2 << 20

	batchSize = 64
	// A quote is at most 576 bytes in IPv4 (RFC 1812) and 1280 in IPv6 (RFC 4443); what is longer is cut, and nothing
	// that is read lies that far behind.
	packetSize = 2048
)

// readPause keeps a reader whose socket fails for a moment (out of memory) from spinning.
const readPause = 10 * time.Millisecond

// rawConn is a raw socket with its one reader.
type rawConn struct {
	conn     *net.IPConn
	raw      syscall.RawConn
	batch    func([]ipv4.Message) (int, error)
	counters *counters
	reader   parallel.Group
}

// openConn opens a raw socket of a network, such as "ip4:icmp", with the options that all of a family share.
func openConn(network string, c *counters) (*rawConn, error) {
	address, v6 := "0.0.0.0", strings.HasPrefix(network, "ip6:")
	if v6 {
		address = "::"
	}
	conn, err := new(net.ListenConfig).ListenPacket(context.Background(), network, address)
	if err != nil {
		return nil, err
	}
	batches := ipv4.NewPacketConn(conn) // which reads those of IPv6 just so
	s := &rawConn{conn: conn.(*net.IPConn), counters: c}
	s.batch = func(ms []ipv4.Message) (int, error) { return batches.ReadBatch(ms, 0) }
	if s.raw, err = s.conn.SyscallConn(); err != nil {
		conn.Close()
		return nil, err
	}
	if v6 {
		err = s.setOption(unix.IPPROTO_IPV6, unix.IPV6_RECVHOPLIMIT, 1)
	}
	err = errors.Join(err,
		s.setOption(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		s.setOption(unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1),
		s.growBuffer(unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, receiveBuffer),
		s.growBuffer(unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, sendBuffer),
	)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("set socket options: %w", err)
	}
	return s, nil
}

func (s *rawConn) setOption(level, name, value int) error {
	var set error
	err := s.raw.Control(func(fd uintptr) { set = unix.SetsockoptInt(int(fd), level, name, value) })
	return errors.Join(err, set)
}

// growBuffer asks for the size outright, which takes CAP_NET_ADMIN, and else for as much of it as the system allows.
func (s *rawConn) growBuffer(force, plain, size int) error {
	if s.setOption(unix.SOL_SOCKET, force, size) == nil {
		return nil
	}
	return s.setOption(unix.SOL_SOCKET, plain, size)
}

// sendByConn sends one packet without waiting for room, and gives the moment right before.
func (s *rawConn) sendByConn(packet, oob []byte, to unix.Sockaddr) (at time.Time, err error) {
	closed := s.raw.Write(func(fd uintptr) bool {
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			at = time.Now()
			err = unix.Sendmsg(int(fd), packet, oob, to, unix.MSG_DONTWAIT)
		}
		return true
	})
	if closed != nil {
		return at, closed
	}
	return at, err
}

// read is the socket's one reader, which gives each packet to dispatch. It ends when the socket is closed.
func (s *rawConn) read(dispatch func(now time.Time, m ipv4.Message)) {
	batch := make([]ipv4.Message, batchSize)
	for i := range batch {
		batch[i].Buffers = [][]byte{make([]byte, packetSize)}
		batch[i].OOB = make([]byte, oobSpace)
	}
	for {
		n, err := s.batch(batch)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(readPause)
			continue
		}
		now := time.Now()
		for _, m := range batch[:n] {
			s.counters.guard(func() { dispatch(now, m) })
		}
	}
}
