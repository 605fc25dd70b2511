package hostroute

import (
	"encoding/binary"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// rtmFibMatch (RTM_F_FIB_MATCH of linux/rtnetlink.h, since Linux 4.13) asks for the entry of the table that applies:
// what is made of it for one packet does not tell whether its link is down.
const rtmFibMatch = 0x2000

// question is one question to the kernel.
type question struct {
	address   netip.Addr
	seq, port uint32
}

func (q question) family() byte {
	if q.address.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// message is the question as it is sent: a struct nlmsghdr, a struct rtmsg, and the address as RTA_DST.
func (q question) message() []byte {
	address := q.address.AsSlice()
	attribute := unix.SizeofRtAttr + len(address)
	length := unix.SizeofNlMsghdr + unix.SizeofRtMsg + attribute
	native := binary.NativeEndian
	m := make([]byte, 0, length)
	m = native.AppendUint32(m, uint32(length))
	m = native.AppendUint16(m, unix.RTM_GETROUTE)
	m = native.AppendUint16(m, unix.NLM_F_REQUEST)
	m = native.AppendUint32(m, q.seq)
	m = native.AppendUint32(m, q.port)
	m = append(m, q.family(), byte(q.address.BitLen()), 0, 0, 0, 0, 0, 0)
	m = native.AppendUint32(m, rtmFibMatch)
	m = native.AppendUint16(m, uint16(attribute))
	m = native.AppendUint16(m, unix.RTA_DST)
	return append(m, address...)
}

// read looks for the answer to the question in what came. mine is false where there is none: what is left over from an
// earlier question has another number.
func (q question) read(b []byte) (way Way, mine bool, err error) {
	native := binary.NativeEndian
	for len(b) >= unix.SizeofNlMsghdr {
		length := native.Uint32(b)
		if length < unix.SizeofNlMsghdr || uint64(length) > uint64(len(b)) {
			return 0, false, nil
		}
		kind, seq, port := native.Uint16(b[4:]), native.Uint32(b[8:]), native.Uint32(b[12:])
		if seq == q.seq && port == q.port {
			way, err := q.readAnswer(kind, b[unix.SizeofNlMsghdr:length])
			return way, true, err
		}
		b = b[min(align(int(length)), len(b)):]
	}
	return 0, false, nil
}

func (q question) readAnswer(kind uint16, body []byte) (Way, error) {
	switch kind {
	case unix.NLMSG_ERROR:
		return readError(body)
	case unix.RTM_NEWROUTE:
		return q.readRoute(body)
	}
	return 0, ErrNoAnswer
}

// readError reads a struct nlmsgerr. Several errors are the routing table's answer: each type of route that refuses has
// its own, and so has a family that the kernel does not have at all.
func readError(body []byte) (Way, error) {
	if len(body) < 4 {
		return 0, ErrNoAnswer
	}
	errno := unix.Errno(-int32(binary.NativeEndian.Uint32(body)))
	switch errno {
	case 0: // an acknowledgement, which was not asked for
		return 0, ErrNoAnswer
	case unix.ENETUNREACH, unix.EHOSTUNREACH, unix.EACCES, unix.EINVAL, unix.ENETDOWN, unix.ESRCH, unix.EAFNOSUPPORT,
		unix.EOPNOTSUPP:
		return Nowhere, nil
	}
	return 0, os.NewSyscallError("RTM_GETROUTE", errno)
}

// readRoute reads a struct rtmsg and, for a route of several links, its attributes.
func (q question) readRoute(body []byte) (Way, error) {
	if len(body) < unix.SizeofRtMsg || body[0] != q.family() {
		return 0, ErrNoAnswer
	}
	switch body[7] {
	case unix.RTN_LOCAL, unix.RTN_BROADCAST, unix.RTN_ANYCAST, unix.RTN_MULTICAST:
		return Here, nil
	case unix.RTN_UNREACHABLE, unix.RTN_PROHIBIT, unix.RTN_BLACKHOLE, unix.RTN_THROW:
		return Nowhere, nil
	case unix.RTN_UNICAST:
		return readLinks(binary.NativeEndian.Uint32(body[8:]), body[unix.SizeofRtMsg:])
	}
	return 0, ErrNoAnswer
}

// linkDown is a next hop whose link is down, by its administrator or for the lack of a carrier.
const linkDown = unix.RTNH_F_DEAD | unix.RTNH_F_LINKDOWN

// readLinks judges the links of a unicast route, one or several.
func readLinks(flags uint32, attributes []byte) (Way, error) {
	legs, ok := attribute(attributes, unix.RTA_MULTIPATH)
	switch {
	case !ok:
		return 0, ErrNoAnswer
	case flags&linkDown != 0:
		return Nowhere, nil
	case legs == nil:
		return Out, nil
	}
	for len(legs) >= unix.SizeofRtNexthop {
		length := int(binary.NativeEndian.Uint16(legs))
		if length < unix.SizeofRtNexthop || length > len(legs) {
			return 0, ErrNoAnswer
		}
		if legs[2]&linkDown == 0 {
			return Out, nil
		}
		legs = legs[min(align(length), len(legs)):]
	}
	return Nowhere, nil
}

// attribute finds an attribute (struct rtattr), nil where there is none. ok is false where the list is broken.
func attribute(b []byte, wanted uint16) (value []byte, ok bool) {
	for len(b) >= unix.SizeofRtAttr {
		length := int(binary.NativeEndian.Uint16(b))
		if length < unix.SizeofRtAttr || length > len(b) {
			return nil, false
		}
		if binary.NativeEndian.Uint16(b[2:]) == wanted {
			return b[unix.SizeofRtAttr:length:length], true
		}
		b = b[min(align(length), len(b)):]
	}
	return nil, true
}

// align rounds up to the four octets that messages, attributes and next hops are laid out in.
func align(n int) int { return (n + 3) &^ 3 }
