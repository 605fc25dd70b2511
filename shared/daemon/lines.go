package daemon

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// queueBytes bounds the lines that wait, queueLines their number.
const (
	queueBytes = 1 << 20
	queueLines = 1 << 12
)

// Lines writes whole lines from a goroutine of its own, each in one write. Write never waits for the destination: a
// line that finds the queue full is dropped and counted, and so is one whose write fails.
type Lines struct {
	out io.Writer
	// loss makes the line that reports dropped ones, or none.
	loss    func(dropped uint64) []byte
	dropped atomic.Uint64

	mu      sync.Mutex
	closed  bool
	queue   chan []byte
	waiting atomic.Int64 // bytes

	ended chan struct{}

	// What follows is used by the writing goroutine alone.
	reported uint64
	torn     bool // the last write ended within a line
}

// NewLines begins to write to out, until Close. loss is given the number of lines that were dropped since it was called
// last, once lines can be written again.
func NewLines(out io.Writer, loss func(uint64) []byte) *Lines {
	l := &Lines{out: out, loss: loss, queue: make(chan []byte, queueLines), ended: make(chan struct{})}
	go l.pump()
	return l
}

// Write takes one line. It always succeeds: no caller could act on a failure.
func (l *Lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := int64(len(line))
	if l.closed || len(l.queue) == cap(l.queue) || l.waiting.Load()+size > queueBytes {
		l.dropped.Add(1)
		return len(line), nil
	}
	l.waiting.Add(size)
	l.queue <- append([]byte(nil), line...)
	return len(line), nil
}

// Dropped returns how many lines could not be written since the start.
func (l *Lines) Dropped() uint64 { return l.dropped.Load() }

// Close writes what waits, for a second at most. What comes afterwards is dropped. It reports whether all writes have
// ended, so that the destination can be closed.
func (l *Lines) Close() (ended bool) {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.queue)
	}
	l.mu.Unlock()
	select {
	case <-l.ended:
		return true
	case <-time.After(flushTime):
		return false
	}
}

// pump writes each line, and after it how many are missing.
func (l *Lines) pump() {
	defer close(l.ended)
	for line := range l.queue {
		ok := l.write(line)
		l.waiting.Add(-int64(len(line)))
		if !ok {
			l.dropped.Add(1)
			continue
		}
		if n := l.dropped.Load(); n > l.reported && l.write(l.loss(n-l.reported)) {
			l.reported = n
		}
	}
}

// write writes a line, and reports whether all of it was written. The rest of one that a failure has cut is lost, and
// the next begins on a new line.
func (l *Lines) write(line []byte) bool {
	if l.torn {
		line = append([]byte{'\n'}, line...)
	}
	if len(line) == 0 {
		return true
	}
	n, err := l.out.Write(line)
	if n > 0 {
		l.torn = line[n-1] != '\n'
	}
	return err == nil
}
