package hostroute

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Changes receives every change of links, addresses, routes and rules of the network namespace that it was opened in.
type Changes struct {
	file   *os.File
	raw    syscall.RawConn
	buffer []byte
}

// groups are the multicast groups of rtnetlink that report these changes.
var groups = []int{
	unix.RTNLGRP_LINK, unix.RTNLGRP_IPV4_IFADDR, unix.RTNLGRP_IPV6_IFADDR, unix.RTNLGRP_IPV4_ROUTE,
	unix.RTNLGRP_IPV6_ROUTE, unix.RTNLGRP_IPV4_RULE, unix.RTNLGRP_IPV6_RULE, unix.RTNLGRP_NEXTHOP,
}

// OpenChanges opens the socket.
func OpenChanges() (*Changes, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), "netlink")
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, errors.Join(os.NewSyscallError("bind", err), file.Close())
	}
	for _, group := range groups {
		// Kernels before 5.3 have no next-hop objects, and no such group.
		err := unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_ADD_MEMBERSHIP, group)
		if err != nil && group != unix.RTNLGRP_NEXTHOP {
			return nil, errors.Join(os.NewSyscallError("setsockopt", err), file.Close())
		}
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Changes{file: file, raw: raw, buffer: make([]byte, 32<<10)}, nil
}

// Next waits for a change and gives the links that it is about; none where it is about something else, or where more
// came than could be kept. The error is os.ErrClosed after Close, else one of the system's.
func (c *Changes) Next() (links []Link, err error) {
	for {
		n, from, err := c.receive()
		switch {
		case errors.Is(err, unix.ENOBUFS):
			return nil, nil
		case err != nil:
			return nil, err
		case !ofKernel(from):
			continue
		}
		messages, _ := syscall.ParseNetlinkMessage(c.buffer[:n])
		for _, m := range messages {
			if link, ok := readLink(m); ok {
				links = append(links, link)
			}
		}
		return links, nil
	}
}

func (c *Changes) receive() (n int, from unix.Sockaddr, err error) {
	waited := c.raw.Read(func(fd uintptr) bool {
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			n, from, err = unix.Recvfrom(int(fd), c.buffer, 0)
		}
		return !errors.Is(err, unix.EAGAIN)
	})
	if waited != nil { // no deadline is set: there is one reason to wait no longer
		return 0, nil, os.ErrClosed
	}
	return n, from, os.NewSyscallError("recvfrom", err)
}

// Close ends Next.
func (c *Changes) Close() { _ = c.file.Close() }
