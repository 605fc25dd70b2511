package hostroute

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// linkQuestion is one question to the kernel, about a link.
type linkQuestion struct {
	index     int
	seq, port uint32
}

// message is the question as it is sent: a struct nlmsghdr and a struct ifinfomsg.
func (q linkQuestion) message() []byte {
	body := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(body[4:], uint32(q.index))
	return request(unix.RTM_GETLINK, q.seq, q.port, body)
}

// read is as question.read is.
func (q linkQuestion) read(b []byte) (link Link, mine bool, err error) {
	for m := range messages(b) {
		if m.seq != q.seq || m.port != q.port {
			continue
		}
		if link, ok := readLink(m); ok && link.Index == q.index {
			return link, true, nil
		}
		return Link{}, true, ErrNoAnswer
	}
	return Link{}, false, nil
}

// readLink reads a struct ifinfomsg and its attributes; ok is false where the message is about no link. What is said of
// a port of a bridge is of another family, and is not about the link as such.
func readLink(m message) (link Link, ok bool) {
	if m.kind != unix.RTM_NEWLINK && m.kind != unix.RTM_DELLINK ||
		len(m.body) < unix.SizeofIfInfomsg || m.body[0] != unix.AF_UNSPEC {
		return Link{}, false
	}
	native := binary.NativeEndian
	const up = unix.IFF_UP | unix.IFF_LOWER_UP
	link.Index = int(native.Uint32(m.body[4:]))
	link.Up = m.kind == unix.RTM_NEWLINK && native.Uint32(m.body[8:])&up == up
	if downs, _ := attribute(m.body[unix.SizeofIfInfomsg:], unix.IFLA_CARRIER_DOWN_COUNT); len(downs) == 4 {
		link.Downs = native.Uint32(downs)
	}
	return link, true
}
