package icmp

import (
	"encoding/binary"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ipv6FlowInfo is IPV6_FLOWINFO of linux/in6.h, which x/sys does not have.
const ipv6FlowInfo = 11

// maxTTL is the largest TTL or hop limit of a packet.
const maxTTL = 255

// oobSpace is room for the control messages of one received packet: a timestamp, a hop limit and a drop counter.
var oobSpace = unix.CmsgSpace(int(unsafe.Sizeof(unix.Timespec{}))) + 2*unix.CmsgSpace(4)

// ttlControl builds the control message that gives one outgoing packet its TTL (IP_TTL, IPV6_HOPLIMIT), so that one
// socket serves every TTL at once.
func ttlControl(level, typ int32, ttl int) []byte {
	var value [4]byte
	binary.NativeEndian.PutUint32(value[:], uint32(ttl))
	return control(level, typ, value)
}

// newLabel draws the flow label of a new flow; IPv4 has none.
func newLabel(dst netip.Addr) []byte {
	if dst.Is4() {
		return nil
	}
	return labelControl(uint32(1 + random(maxFlowLabel)))
}

// labelControl builds the control message that gives one outgoing IPv6 packet a flow label (RFC 6437). Routers spread
// load by it (RFC 6438), and the kernel's own label would be the same for every flow to a destination.
func labelControl(label uint32) []byte {
	var value [4]byte
	binary.BigEndian.PutUint32(value[:], label)
	return control(unix.IPPROTO_IPV6, ipv6FlowInfo, value)
}

func control(level, typ int32, value [4]byte) []byte {
	b := make([]byte, unix.CmsgSpace(len(value)))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0])) // #nosec G103 -- CmsgSpace has room for it
	h.Level, h.Type = level, typ
	h.SetLen(unix.CmsgLen(len(value)))
	copy(b[unix.CmsgLen(0):], value[:])
	return b
}

// received is what the kernel reports about a packet beside its bytes.
type received struct {
	stamp    time.Time // wall clock; zero where absent
	hopLimit int
	dropped  uint32 // packets that this socket has lost so far for want of room
}

func parseControl(b []byte) received {
	var r received
	for len(b) >= unix.CmsgLen(0) {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			return r
		}
		switch {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && len(data) >= int(unsafe.Sizeof(unix.Timespec{})):
			ts := (*unix.Timespec)(unsafe.Pointer(&data[0])) // #nosec G103 -- the case has judged its length
			r.stamp = time.Unix(ts.Unix())
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL && len(data) >= 4:
			r.dropped = binary.NativeEndian.Uint32(data)
		case h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_HOPLIMIT && len(data) >= 4,
			h.Level == unix.IPPROTO_IP && h.Type == unix.IP_TTL && len(data) >= 4:
			r.hopLimit = int(binary.NativeEndian.Uint32(data))
		}
		b = rest
	}
	return r
}

// maxLag is the longest plausible time between the kernel's timestamp and the read. Beyond it the clock was set.
const maxLag = 5 * time.Second

// arrival turns the kernel's timestamp, which is of the wall clock, into a moment of the monotonic clock, on which the
// sending was timed: only the time that the packet waited to be read is taken from the wall clock.
func arrival(now, stamp time.Time) time.Time {
	lag := now.Round(0).Sub(stamp)
	if stamp.IsZero() || lag < 0 || lag > maxLag {
		return now
	}
	return now.Add(-lag)
}
