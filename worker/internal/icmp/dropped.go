package icmp

import (
	"bytes"
	"os"
	"strconv"
)

// dropped6 counts the packets of IPv6 that this host itself has dropped instead of sending them. Linux tells an ICMPv6
// datagram socket nothing of such a one (ping_v6_sendmsg). It counts one as well where a send fails with the ICMP error
// that came for an earlier packet (ip6_append_data): those are taken off again, see droppedBut.
type dropped6 struct{ file *os.File }

// droppedBut takes off what the kernel counts and nothing was lost by. What is taken off is read last, as it is counted
// last.
func droppedBut(dropped, others func() uint64) func() uint64 {
	return func() uint64 {
		all := dropped()
		return all - others()
	}
}

// openDropped6 opens the counters of the network namespace. Where there are none, none are dropped.
func openDropped6() dropped6 {
	file, _ := os.Open("/proc/thread-self/net/snmp6")
	return dropped6{file}
}

// now gives the present count.
func (d dropped6) now() uint64 {
	b := make([]byte, 16<<10)
	n, _ := d.file.ReadAt(b, 0) // what is there ends in an EOF; of no file nothing is read
	return outDiscards(b[:n])
}

// outDiscards finds the count among lines of a name and a number each.
func outDiscards(text []byte) uint64 {
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) == 2 && string(f[0]) == "Ip6OutDiscards" {
			count, _ := strconv.ParseUint(string(f[1]), 10, 64)
			return count
		}
	}
	return 0
}

func (d dropped6) close() { _ = d.file.Close() }
