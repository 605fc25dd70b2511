package daemon

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// queueBytes bounds the lines that wait. As much again may be on its way out.
	queueBytes = 1 << 20
	// writeBytes is Linux's PIPE_BUF: so much goes into a pipe in one piece, so that two processes that share one do not
	// cut each other's lines. Only a line that is longer by itself goes out in a longer write.
	writeBytes = 4096
	// restTime is the pause after a write that failed.
	restTime = time.Second
	// gatherTime is the least time between two writes. A line that comes after a quiet moment goes out at once; of many
	// a second, each in a write of its own would cost more than making it.
	gatherTime = 5 * time.Millisecond
)

// Lines writes whole lines from a goroutine of its own. Write never waits for the destination: a line that finds the
// queue full is dropped and counted, and so is what waits when a write fails.
type Lines struct {
	out io.Writer
	// loss makes the line that tells of dropped ones, once lines go out again.
	loss    func(dropped uint64) []byte
	dropped atomic.Uint64

	mu     sync.Mutex
	queue  []byte
	untold uint64 // dropped lines that no line has told of
	closed bool

	wake    chan struct{} // holds one
	closing chan struct{}
	ended   chan struct{}

	// What follows is the writing goroutine's alone.
	torn  []byte // the rest of a line whose beginning is out
	spare []byte // the queue that was written last, to be used again
}

// NewLines begins to write to out, until Close. loss is given the number of lines that were dropped, once lines go out
// again, and makes the line that tells of it, or none.
func NewLines(out io.Writer, loss func(uint64) []byte) *Lines {
	l := &Lines{out: out, loss: loss,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{})}
	go l.pump()
	return l
}

// Write takes one line. It always succeeds: nobody who logs could do anything about a failure.
func (l *Lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	if l.closed || len(l.queue)+len(line) > queueBytes {
		l.dropped.Add(1)
		l.untold++
	} else {
		l.queue = append(l.queue, line...)
	}
	l.mu.Unlock()
	l.rouse()
	return len(line), nil
}

func (l *Lines) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Dropped is how many lines could not be written since the start.
func (l *Lines) Dropped() uint64 { return l.dropped.Load() }

// Close writes what waits, for a second at most. What comes afterwards is dropped. It reports whether no write is under
// way any more, so that the destination is free.
func (l *Lines) Close() (ended bool) {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.closing)
	}
	l.mu.Unlock()
	select {
	case <-l.ended:
		return true
	case <-time.After(flushTime):
		return false
	}
}

// pump writes until the end.
func (l *Lines) pump() {
	defer close(l.ended)
	for {
		select {
		case <-l.wake:
		case <-l.closing:
			l.flush()
			return
		}
		pause := gatherTime
		if !l.flush() {
			pause = restTime
			// A loss is told as soon as it can be, not with the next line.
			l.rouse()
		}
		select {
		case <-time.After(pause):
		case <-l.closing:
		}
	}
}

// flush writes what waits, and then how many lines are missing, and reports whether that went well.
func (l *Lines) flush() bool {
	batch, untold := l.take()
	unsent, ok := l.send(batch)
	l.spare = batch[:0]
	if !ok {
		n := uint64(bytes.Count(unsent, newline)) // #nosec G115 -- a count is not negative
		l.dropped.Add(n)
		l.missing(untold + n)
		return false
	}
	if untold == 0 {
		return true
	}
	if unsent, ok = l.send(l.loss(untold)); len(unsent) > 0 {
		l.missing(untold)
	}
	return ok
}

var newline = []byte{'\n'}

// take gives the lines that wait, and how many were dropped that nobody knows of.
func (l *Lines) take() (batch []byte, untold uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, untold = l.queue, l.untold
	l.queue, l.untold = l.spare, 0
	return batch, untold
}

// missing remembers lines to be told of.
func (l *Lines) missing(n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.untold += n
}

// send writes whole lines, after the rest of one that a failure had cut, and gives those that it could not begin.
func (l *Lines) send(text []byte) (unsent []byte, ok bool) {
	within := len(l.torn) > 0
	if within {
		text, l.torn = append(l.torn, text...), nil
	}
	for len(text) > 0 {
		n, err := l.out.Write(text[:piece(text)])
		if n > 0 {
			within = text[n-1] != '\n'
			text = text[n:]
		}
		if err == nil {
			continue
		}
		if within {
			end := bytes.IndexByte(text, '\n') + 1
			l.torn, text = bytes.Clone(text[:end]), text[end:]
		}
		return text, false
	}
	return nil, true
}

// piece is the length of what goes out in one write: as many whole lines as fit, one at least.
func piece(text []byte) int {
	if len(text) <= writeBytes {
		return len(text)
	}
	if end := bytes.LastIndexByte(text[:writeBytes], '\n'); end >= 0 {
		return end + 1
	}
	return bytes.IndexByte(text, '\n') + 1
}
