package daemon

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// valve is a destination that takes what its test lets through.
type valve struct {
	mu   sync.Mutex
	text bytes.Buffer
	// room is how many bytes it still takes before its writes fail; below 0 it takes all.
	room int
	// gate blocks each write until something can be read from it, nil for no gate.
	gate chan struct{}
}

func (v *valve) Write(p []byte) (int, error) {
	if v.gate != nil {
		<-v.gate
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.room < 0 {
		return v.text.Write(p)
	}
	if v.room >= len(p) {
		v.room -= len(p)
		return v.text.Write(p)
	}
	n, _ := v.text.Write(p[:v.room])
	v.room = 0
	return n, syscall.ENOSPC
}

func (v *valve) set(room int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.room = room
}

func (v *valve) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.text.String()
}

func lossOf(n uint64) []byte { return fmt.Appendf(nil, "lost %d\n", n) }

func say(l *Lines, text ...string) {
	for _, t := range text {
		_, _ = io.WriteString(l, t+"\n")
	}
}

func TestLinesGoOutInOrder(t *testing.T) {
	t.Parallel()
	v := &valve{room: -1}
	l := NewLines(v, lossOf)
	var want strings.Builder
	for n := range queueLines / 2 {
		say(l, fmt.Sprint("line ", n))
		fmt.Fprintln(&want, "line", n)
	}
	l.Close()
	if got := v.String(); got != want.String() || l.Dropped() != 0 {
		t.Errorf("%d bytes came, want %d; %d lines dropped", len(got), want.Len(), l.Dropped())
	}
	say(l, "too late")
	if l.Dropped() != 1 || strings.Contains(v.String(), "late") {
		t.Error("a line after the end is not counted")
	}
}

// A stuck reader costs lines past the bounds, on the byte and on the line, and no time.
func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ size, fit int }{
		"bytes": {1024, queueBytes/1024 - 1}, "lines": {2, queueLines},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := &valve{room: -1, gate: make(chan struct{})}
			l := NewLines(v, lossOf)
			line := strings.Repeat("x", tt.size-1)
			say(l, line)
			synctest.Wait() // the first line is stuck
			for range tt.fit {
				say(l, line)
			}
			if l.Dropped() != 0 {
				t.Errorf("%s: %d lines dropped from a queue that is just full", name, l.Dropped())
			}
			say(l, line, line)
			if l.Dropped() != 2 {
				t.Errorf("%s: %d lines dropped", name, l.Dropped())
			}
			close(v.gate)
			l.Close()
			if !strings.Contains(v.String(), "\nlost 2\n") || strings.Count(v.String(), "\n") != tt.fit+2 {
				t.Errorf("%s: %d lines", name, strings.Count(v.String(), "\n"))
			}
		})
	}
}

// A destination that fails within a line loses it, and gets whole lines and the number of the lost ones afterwards.
func TestAFailureLosesALine(t *testing.T) {
	t.Parallel()
	for room := range len("one\n") {
		synctest.Test(t, func(t *testing.T) {
			v := &valve{room: room}
			l := NewLines(v, lossOf)
			say(l, "one", "two")
			synctest.Wait()
			v.set(len("three\n") + 1) // and not the line of the loss
			say(l, "three")
			synctest.Wait()
			v.set(-1)
			say(l, "four")
			l.Close()
			if !strings.Contains(v.String(), "three\n") || !strings.HasSuffix(v.String(), "\nfour\nlost 2\n") ||
				l.Dropped() != 2 {
				t.Errorf("room for %d: %d dropped, %q", room, l.Dropped(), v.String())
			}
		})
	}
}

// A full pipe: no logging call blocks, and the lines written and the lines counted as dropped add up.
func TestAFullPipe(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l := NewLines(w, lossOf)
	const all = 20_000
	line := strings.Repeat("x", 199)
	for range all {
		say(l, line)
	}
	if l.Dropped() == 0 {
		t.Fatal("a pipe that no one reads has taken it all")
	}
	// Lines that were dropped before the writing began are counted apart from later ones.
	_ = r.SetReadDeadline(time.Now().Add(20 * time.Second))
	scanner := bufio.NewScanner(r)
	came, told := 0, 0
	for came+told < all && scanner.Scan() {
		n := 0
		if _, err := fmt.Sscanf(scanner.Text(), "lost %d", &n); err == nil {
			told += n
			continue
		}
		if came++; scanner.Text() != line {
			t.Fatalf("a torn line: %q", scanner.Text())
		}
	}
	if came+told != all || uint64(told) != l.Dropped() {
		t.Errorf("%d came, %d told of %d, %d dropped: %v", came, told, all, l.Dropped(), scanner.Err())
	}
	l.Close()
	w.Close()
	if scanner.Scan() {
		t.Errorf("after all: %q", scanner.Text())
	}
}

func TestAFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	l := NewLines(full, lossOf)
	say(l, "one", "two", "three")
	if ended := l.Close(); l.Dropped() != 3 || !ended {
		t.Errorf("%d dropped, ended %t", l.Dropped(), ended)
	}
}

// The end waits for a slow reader, and not for one that is stuck.
func TestTheEndIsBounded(t *testing.T) {
	t.Parallel()
	for pause, whole := range map[time.Duration]bool{flushTime - 1: true, flushTime + 1: false} {
		synctest.Test(t, func(t *testing.T) {
			v := &valve{room: -1, gate: make(chan struct{})}
			l := NewLines(v, lossOf)
			say(l, "one")
			go func() {
				time.Sleep(pause)
				close(v.gate)
			}()
			begin := time.Now()
			ended := l.Close()
			if got := v.String() != ""; got != whole || ended != whole || time.Since(begin) > flushTime {
				t.Errorf("a pause of %v: %q after %v, ended %t", pause, v.String(), time.Since(begin), ended)
			}
			<-l.ended
		})
	}
}

func TestLastWordsDoNotWaitForever(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		begin := time.Now()
		printError(w, "x\n")
		if time.Since(begin) != flushTime {
			t.Errorf("after %v", time.Since(begin))
		}
		r.CloseWithError(errors.New("gone"))
		var out strings.Builder
		printError(&out, "y\n")
		if out.String() != "y\n" {
			t.Errorf("%q", out.String())
		}
	})
}
