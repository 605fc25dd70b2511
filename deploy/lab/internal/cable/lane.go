package cable

import (
	"time"

	"golang.org/x/sys/unix"
)

// lane is one direction of a cable. Its delay is constant, so packets leave in the order in which they came.
type lane struct {
	from, to  int
	delay     time.Duration
	dropEvery int
	seen      int
	queue     []packet
	free      [][]byte
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
		if l.drops() {
			l.free = append(l.free, buf)
			continue
		}
		l.queue = append(l.queue, packet{due: time.Since(start) + l.delay, data: buf[:n]})
	}
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

func (l *lane) drops() bool {
	l.seen++
	return l.dropEvery > 0 && l.seen%l.dropEvery == 0
}

func (l *lane) buffer() []byte {
	if n := len(l.free); n > 0 {
		buf := l.free[n-1]
		l.free = l.free[:n-1]
		return buf
	}
	return make([]byte, mtu)
}
