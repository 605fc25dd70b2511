package cable

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// lane is one direction of a cable. Its queue is in the order in which packets leave, which is that in which they came
// but for those that are held back.
type lane struct {
	from, to int
	spec     Spec
	seen     map[destination]int // packets
	queue    []packet
	free     [][]byte
}

// destination is the address that a packet goes to, of either family.
type destination [16]byte

func destinationOf(data []byte) (to destination) {
	switch {
	case len(data) >= 20 && data[0]>>4 == 4:
		copy(to[:], data[16:20])
	case len(data) >= 40 && data[0]>>4 == 6:
		copy(to[:], data[24:40])
	}
	return to
}

type packet struct {
	due  time.Duration
	data []byte
}

func (l *lane) nextDue() (time.Duration, bool) {
	if len(l.queue) == 0 {
		return 0, false
	}
	return l.queue[0].due, true
}

// fill takes in what is waiting at the near end.
func (l *lane) fill(start time.Time) {
	for range readBurst {
		buf := l.buffer()
		n, err := unix.Read(l.from, buf)
		if err != nil || n <= 0 {
			l.free = append(l.free, buf)
			return
		}
		count := l.count(buf[:n])
		if isNth(count, l.spec.DropEvery) {
			l.free = append(l.free, buf)
			continue
		}
		p := packet{due: time.Since(start) + l.spec.Delay, data: buf[:n]}
		if isNth(count, l.spec.HoldEvery) {
			p.due += l.spec.Hold
		}
		l.insert(p)
		if isNth(count, l.spec.RepeatEvery) {
			l.insert(packet{due: p.due, data: append(l.buffer()[:0], p.data...)})
		}
	}
}

// insert puts a packet behind all that are due no later.
func (l *lane) insert(p packet) {
	i := len(l.queue)
	for i > 0 && l.queue[i-1].due > p.due {
		i--
	}
	l.queue = slices.Insert(l.queue, i, p)
}

// drain puts out what is due at the far end. A packet that the kernel refuses there (the device is down) is lost, as on
// any cable.
func (l *lane) drain(start time.Time) {
	sent := 0
	for sent < len(l.queue) && l.queue[sent].due <= time.Since(start) {
		p := l.queue[sent]
		_, _ = unix.Write(l.to, p.data)
		l.free = append(l.free, p.data[:cap(p.data)])
		sent++
	}
	if sent == 0 {
		return
	}
	kept := copy(l.queue, l.queue[sent:])
	clear(l.queue[kept:])
	l.queue = l.queue[:kept]
}

// count counts a packet: each destination has a count of its own, so that tests of several do not disturb each other.
func (l *lane) count(data []byte) int {
	if l.seen == nil {
		l.seen = map[destination]int{}
	}
	to := destinationOf(data)
	l.seen[to]++
	return l.seen[to]
}

// isNth reports whether the packet is one of every n.
func isNth(count, n int) bool { return n > 0 && count%n == 0 }

func (l *lane) buffer() []byte {
	if n := len(l.free); n > 0 {
		buf := l.free[n-1]
		l.free = l.free[:n-1]
		return buf
	}
	return make([]byte, mtu)
}
