package icmp

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"diagnostics/worker/internal/exchange"

	"golang.org/x/sys/unix"
)

// The ports that UDP and TCP probes leave from are a block that a filter can match by one octet. Those above the usual
// ephemeral ports (ip_local_port_range) are tried first: these are rarely in use.
const (
	blockSize  = 256
	firstBlock = 10_240 / blockSize
	highBlock  = 61_184 / blockSize
	lastBlock  = 65_280 / blockSize
)

// reserved is a block of ports, of UDP and TCP, that no other program of this host can have: to each a socket is bound.
//
// That of TCP neither listens nor connects. So the kernel has no connection to which a SYN-ACK for the port could
// belong, and answers it with a RST.
type reserved struct {
	first   uint16
	sockets []int
	free    map[exchange.Protocol]*identifierPool
}

// reserve takes a block of which every port is free.
func reserve() (*reserved, error) {
	var errs error
	for _, b := range blocks() {
		r, err := reserveFrom(uint16(b * blockSize))
		if err == nil {
			return r, nil
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			return nil, err
		}
		errs = err
	}
	return nil, fmt.Errorf("no block of %d source ports is free: %w", blockSize, errs)
}

// blocks returns all blocks in the order in which they are tried.
func blocks() []int {
	shuffled := func(from, to int) []int {
		all := rand.Perm(to - from) // #nosec G404 -- no secret: every target sees the ports
		for i := range all {
			all[i] += from
		}
		return all
	}
	return append(shuffled(highBlock, lastBlock+1), shuffled(firstBlock, highBlock)...)
}

func reserveFrom(first uint16) (*reserved, error) {
	r := &reserved{first: first, free: map[exchange.Protocol]*identifierPool{
		exchange.UDP: newPool(first, blockSize), exchange.TCP: newPool(first, blockSize),
	}}
	for i := range blockSize {
		for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM} {
			fd, err := bindPort(kind, first+uint16(i))
			if err != nil {
				r.close()
				return nil, err
			}
			r.sockets = append(r.sockets, fd)
		}
	}
	return r, nil
}

// bindPort binds a socket to a port of both families, or of IPv4 where there is no other.
func bindPort(kind int, port uint16) (int, error) {
	fd, err := unix.Socket(unix.AF_INET6, kind|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		return fd, prepareBound(fd, kind, func() error {
			return errors.Join(unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0),
				unix.Bind(fd, &unix.SockaddrInet6{Port: int(port)}))
		})
	}
	if !errors.Is(err, unix.EAFNOSUPPORT) {
		return -1, fmt.Errorf("socket: %w", err)
	}
	if fd, err = unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	return fd, prepareBound(fd, kind, func() error { return unix.Bind(fd, &unix.SockaddrInet4{Port: int(port)}) })
}

// prepareBound binds a socket that keeps nothing of what comes, since it is not read. One of TCP that does not listen
// keeps nothing by itself, and newer kernels want CAP_NET_ADMIN for a filter on it. It is closed after an error.
func prepareBound(fd, kind int, bind func() error) error {
	var err error
	if kind == unix.SOCK_DGRAM {
		err = attachNothing(fd)
	}
	if err == nil {
		err = bind()
	}
	if err != nil {
		unix.Close(fd)
		return fmt.Errorf("bind: %w", err)
	}
	return nil
}

func (r *reserved) close() {
	for _, fd := range r.sockets {
		unix.Close(fd)
	}
	r.sockets = nil
}
