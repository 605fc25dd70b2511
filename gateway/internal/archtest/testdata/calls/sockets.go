package calls

import "golang.org/x/sys/unix"

func sockets() {
	_, _ = unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM, unix.NETLINK_ROUTE)
	_, _ = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	family := unix.AF_NETLINK
	_, _ = unix.Socket(family, unix.SOCK_DGRAM, unix.NETLINK_ROUTE)
}
