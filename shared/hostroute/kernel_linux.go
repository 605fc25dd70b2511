package hostroute

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Kernel queries the kernel of the network namespace that it was opened in. It is safe for concurrent use: the queries
// go one after the other, as the kernel's own lock would order them.
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

// open makes the socket that all questions share. It stays open whatever happens: answers that come too late are
// recognised by their number, and a host that lacks files would get no other socket.
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

// bind binds the socket to a port number, by which the kernel addresses its answers.
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

// To returns where packets to the address would go now. An error means that the query failed; it is one of the
// system's, or ErrNoAnswer.
func (k *Kernel) To(a netip.Addr) (Kind, error) {
	route, err := k.Route(a)
	return route.Kind, err
}

// Route is To with the links.
func (k *Kernel) Route(a netip.Addr) (Route, error) {
	if !usable(a) {
		return Route{}, ErrNoAnswer
	}
	q := question{address: a, packets: k.packets}
	k.mu.Lock()
	defer k.mu.Unlock()
	m, err := k.ask(unix.RTM_GETROUTE, q.body())
	if err != nil {
		return Route{}, err
	}
	return q.read(m)
}

// Link returns the state of a link. Errors are those of To.
func (k *Kernel) Link(index int) (Link, error) {
	body := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(body[4:], uint32(index))
	k.mu.Lock()
	defer k.mu.Unlock()
	m, err := k.ask(unix.RTM_GETLINK, body)
	if err != nil {
		return Link{}, err
	}
	if link, ok := readLink(m); ok && link.Index == index {
		return link, nil
	}
	return Link{}, ErrNoAnswer
}

// ask sends a query with a sequence number of its own and returns the answer, which lies in the buffer. The caller
// holds the lock until it has read it.
func (k *Kernel) ask(kind uint16, body []byte) (syscall.NetlinkMessage, error) {
	if k.fd < 0 {
		if err := k.open(); err != nil {
			return syscall.NetlinkMessage{}, err
		}
	}
	k.seq++
	if err := k.send(request(kind, k.seq, k.port, body)); err != nil {
		return syscall.NetlinkMessage{}, err
	}
	return k.receive()
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

// receive reads until the answer to the last question comes.
func (k *Kernel) receive() (none syscall.NetlinkMessage, err error) {
	for end := time.Now().Add(answerWithin); time.Now().Before(end); {
		n, _, flags, from, err := unix.Recvmsg(k.fd, k.buffer, nil, 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN): // SO_RCVTIMEO
			return none, ErrNoAnswer
		case err != nil:
			return none, os.NewSyscallError("recvmsg", err)
		case !ofKernel(from):
			continue
		}
		if flags&unix.MSG_TRUNC != 0 { // the rest is lost, and no second answer comes
			return none, ErrNoAnswer
		}
		if m, ok := answer(k.buffer[:n], k.seq, k.port); ok {
			return m, nil
		}
	}
	return none, ErrNoAnswer
}

// answer finds the answer to a question: what is left over from an earlier one has another number.
func answer(b []byte, seq, port uint32) (m syscall.NetlinkMessage, ok bool) {
	native := binary.NativeEndian
	for len(b) >= unix.SizeofNlMsghdr {
		message, rest, ok := cut(b, int(native.Uint32(b)), unix.SizeofNlMsghdr)
		if !ok {
			break
		}
		if native.Uint32(message[8:]) == seq && native.Uint32(message[12:]) == port {
			m.Header.Type = native.Uint16(message[4:])
			m.Data = message[unix.SizeofNlMsghdr:]
			return m, true
		}
		b = rest
	}
	return m, false
}

// cut splits a list after its first item, which says how long it is, and after the padding behind that. ok is false
// where the item is shorter than its header or longer than the list.
func cut(list []byte, length, header int) (item, rest []byte, ok bool) {
	if length < header || length > len(list) {
		return nil, nil, false
	}
	return list[:length], list[min(align(length), len(list)):], true
}

// ofKernel reports whether the kernel has sent a message: any process of this host may, but only the kernel with the
// port number 0.
func ofKernel(from unix.Sockaddr) bool {
	sender, is := from.(*unix.SockaddrNetlink)
	return is && sender.Pid == 0
}

// rtmFibMatch (RTM_F_FIB_MATCH of linux/rtnetlink.h, since Linux 4.13) requests the matching entry of the table: the
// route that is derived from it for one packet does not show whether its link is down.
const rtmFibMatch = 0x2000

// question is one question to the kernel, about the way to an address.
type question struct {
	address netip.Addr
	packets Packets
}

func (q question) family() byte {
	if q.address.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// body is the question: a struct rtmsg, and as attributes the address (RTA_DST), the protocol (RTA_IP_PROTO, since
// Linux 4.19; older ones pass over it) and the link, where there is one (RTA_OIF).
func (q question) body() []byte {
	body := append([]byte{q.family(), byte(q.address.BitLen())}, 0, 0, 0, 0, 0, 0)
	body = binary.NativeEndian.AppendUint32(body, rtmFibMatch)
	body = appendAttribute(body, unix.RTA_DST, q.address.AsSlice())
	body = appendAttribute(body, unix.RTA_IP_PROTO, []byte{q.protocol()})
	if q.packets.Link != 0 {
		body = appendAttribute(body, unix.RTA_OIF, binary.NativeEndian.AppendUint32(nil, uint32(q.packets.Link)))
	}
	return body
}

func (q question) protocol() byte {
	switch {
	case q.packets.Protocol == TCP:
		return unix.IPPROTO_TCP
	case q.address.Is4():
		return unix.IPPROTO_ICMP
	default:
		return unix.IPPROTO_ICMPV6
	}
}

// request puts a struct nlmsghdr before a message to the kernel.
func request(kind uint16, seq, port uint32, body []byte) []byte {
	native := binary.NativeEndian
	m := make([]byte, 0, unix.SizeofNlMsghdr+len(body))
	m = native.AppendUint32(m, uint32(cap(m)))
	m = native.AppendUint16(m, kind)
	m = native.AppendUint16(m, unix.NLM_F_REQUEST)
	m = native.AppendUint32(m, seq)
	m = native.AppendUint32(m, port)
	return append(m, body...)
}

// appendAttribute adds an attribute (struct rtattr) with the padding behind it.
func appendAttribute(b []byte, kind uint16, value []byte) []byte {
	length := unix.SizeofRtAttr + len(value)
	b = binary.NativeEndian.AppendUint16(b, uint16(length))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = append(b, value...)
	return append(b, make([]byte, align(length)-length)...)
}

// read reads the answer to the question.
func (q question) read(m syscall.NetlinkMessage) (Route, error) {
	switch m.Header.Type {
	case unix.NLMSG_ERROR:
		kind, err := readError(m.Data)
		return Route{Kind: kind}, err
	case unix.RTM_NEWROUTE:
		return q.readRoute(m)
	}
	return Route{}, ErrNoAnswer
}

// readError reads a struct nlmsgerr. Several errors are the routing table's answer: each type of route that refuses has
// its own, and so has a family that the kernel does not have at all.
func readError(body []byte) (Kind, error) {
	if len(body) < 4 {
		return 0, ErrNoAnswer
	}
	errno := unix.Errno(-int32(binary.NativeEndian.Uint32(body)))
	switch errno {
	case 0: // an acknowledgement, which was not requested
		return 0, ErrNoAnswer
	case unix.EACCES, unix.EINVAL, unix.EHOSTUNREACH: // prohibit, blackhole, unreachable
		return Refused, nil
	case unix.ENETUNREACH, unix.ENETDOWN, unix.ENODEV, unix.ESRCH, unix.EAFNOSUPPORT, unix.EOPNOTSUPP:
		return Nowhere, nil
	}
	return 0, os.NewSyscallError("RTM_GETROUTE", errno)
}

// readRoute reads a struct rtmsg and, for a route of several links, its attributes.
func (q question) readRoute(m syscall.NetlinkMessage) (Route, error) {
	body := m.Data
	if len(body) < unix.SizeofRtMsg || body[0] != q.family() {
		return Route{}, ErrNoAnswer
	}
	switch body[7] {
	case unix.RTN_LOCAL, unix.RTN_BROADCAST, unix.RTN_ANYCAST, unix.RTN_MULTICAST:
		return Route{Kind: Here}, nil
	case unix.RTN_UNREACHABLE, unix.RTN_PROHIBIT, unix.RTN_BLACKHOLE:
		return Route{Kind: Refused}, nil
	case unix.RTN_THROW:
		return Route{Kind: Nowhere}, nil
	case unix.RTN_UNICAST:
		return readLinks(binary.NativeEndian.Uint32(body[8:]), m)
	}
	return Route{}, ErrNoAnswer
}

// linkDown is a next hop whose link is down, by its administrator or for the lack of a carrier.
const linkDown = unix.RTNH_F_DEAD | unix.RTNH_F_LINKDOWN

// readLinks judges the links of a unicast route, one or several.
func readLinks(flags uint32, m syscall.NetlinkMessage) (Route, error) {
	// A connection takes four of these answers, so they are read without a map.
	var link, nextHops []byte
	whole := eachAttribute(m, func(kind uint16, value []byte) {
		switch kind {
		case unix.RTA_OIF:
			link = value
		case unix.RTA_MULTIPATH:
			nextHops = value
		}
	})
	if !whole {
		return Route{}, ErrNoAnswer
	}
	route := Route{Kind: Nowhere}
	if len(link) == 4 {
		route.Links = []int{int(binary.NativeEndian.Uint32(link))}
	}
	if flags&linkDown != 0 {
		return route, nil
	}
	if nextHops == nil {
		route.Kind = Out
		return route, nil
	}
	for len(nextHops) >= unix.SizeofRtNexthop {
		hop, rest, ok := cut(nextHops, int(binary.NativeEndian.Uint16(nextHops)), unix.SizeofRtNexthop)
		if !ok {
			return Route{}, ErrNoAnswer
		}
		if hop[2]&linkDown == 0 {
			route.Kind = Out
			route.Links = append(route.Links, int(binary.NativeEndian.Uint32(hop[4:])))
		}
		nextHops = rest
	}
	return route, nil
}

// attributesOf returns the attributes (struct rtattr) of a message whose body is long enough, by type. ok is false
// where the list is broken.
func attributesOf(m syscall.NetlinkMessage) (values map[uint16][]byte, ok bool) {
	values = map[uint16][]byte{}
	ok = eachAttribute(m, func(kind uint16, value []byte) { values[kind] = value })
	return values, ok
}

// eachAttribute calls f with every attribute of a message whose body is long enough, and reports whether the list is
// whole.
func eachAttribute(m syscall.NetlinkMessage, f func(kind uint16, value []byte)) bool {
	size := unix.SizeofRtMsg
	if m.Header.Type == unix.RTM_NEWLINK || m.Header.Type == unix.RTM_DELLINK {
		size = unix.SizeofIfInfomsg
	}
	native := binary.NativeEndian
	for list := m.Data[size:]; len(list) >= unix.SizeofRtAttr; {
		attribute, rest, ok := cut(list, int(native.Uint16(list)), unix.SizeofRtAttr)
		if !ok {
			return false
		}
		f(native.Uint16(attribute[2:]), attribute[unix.SizeofRtAttr:])
		list = rest
	}
	return true
}

// align rounds up to the four octets that messages, attributes and next hops are laid out in.
func align(n int) int { return (n + 3) &^ 3 }

// readLink reads a struct ifinfomsg and its attributes; ok is false where the message is about no link. What is said of
// a port of a bridge is of another family, and is not about the link as such.
func readLink(m syscall.NetlinkMessage) (link Link, ok bool) {
	kind, body := m.Header.Type, m.Data
	if kind != unix.RTM_NEWLINK && kind != unix.RTM_DELLINK ||
		len(body) < unix.SizeofIfInfomsg || body[0] != unix.AF_UNSPEC {
		return Link{}, false
	}
	native := binary.NativeEndian
	const up = unix.IFF_UP | unix.IFF_LOWER_UP
	link.Index = int(native.Uint32(body[4:]))
	link.Up = kind == unix.RTM_NEWLINK && native.Uint32(body[8:])&up == up
	attributes, _ := attributesOf(m)
	if downs := attributes[unix.IFLA_CARRIER_DOWN_COUNT]; len(downs) == 4 {
		link.Downs = native.Uint32(downs)
	}
	return link, true
}
