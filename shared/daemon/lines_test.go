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
	// longest is the longest write that came.
	longest int
}

func (v *valve) Write(p []byte) (int, error) {
	if v.gate != nil {
		<-v.gate
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.longest = max(v.longest, len(p))
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
	for n := range 5000 {
		say(l, fmt.Sprint("line ", n))
		fmt.Fprintln(&want, "line", n)
	}
	say(l, strings.Repeat("x", 2*writeBytes))
	l.Close()
	if got := v.String(); got != want.String()+strings.Repeat("x", 2*writeBytes)+"\n" {
		t.Errorf("%d bytes came, want %d", len(got), want.Len()+2*writeBytes+1)
	}
	if v.longest != 2*writeBytes+1 || l.Dropped() != 0 {
		t.Errorf("the longest write has %d bytes, %d lines dropped", v.longest, l.Dropped())
	}
	say(l, "too late")
	if l.Dropped() != 1 || strings.Contains(v.String(), "late") {
		t.Error("what comes after the end is not counted")
	}
}

func TestPieceEndsWithALine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines []int // with their line feeds
		want  int
	}{
		{[]int{1}, 1},
		{[]int{writeBytes}, writeBytes},
		{[]int{writeBytes + 1}, writeBytes + 1},
		{[]int{writeBytes - 1, 1}, writeBytes},
		{[]int{writeBytes - 1, 2}, writeBytes - 1},
		{[]int{2, writeBytes}, 2},
		{[]int{writeBytes + 1, 1}, writeBytes + 1},
	} {
		var text []byte
		for _, n := range c.lines {
			text = append(text, strings.Repeat("x", n-1)+"\n"...)
		}
		if got := piece(text); got != c.want {
			t.Errorf("%v: %d, want %d", c.lines, got, c.want)
		}
	}
}

// A line that comes after a quiet moment goes out at once; those that follow it closely go out together.
func TestLinesAreGathered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &valve{room: -1}
		l := NewLines(v, lossOf)
		defer l.Close()
		for _, step := range []struct {
			after time.Duration
			say   string
			out   string
		}{
			{0, "a", "a\n"},
			{0, "b", "a\n"},
			{gatherTime - 1, "c", "a\n"},
			{1, "", "a\nb\nc\n"},
			{gatherTime, "d", "a\nb\nc\nd\n"},
		} {
			time.Sleep(step.after)
			if step.say != "" {
				say(l, step.say)
			}
			synctest.Wait()
			if got := v.String(); got != step.out {
				t.Errorf("after %q: %q, want %q", step.say, got, step.out)
			}
		}
	})
}

// A stuck reader costs lines past the bound, on the byte, and no time.
func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &valve{room: -1, gate: make(chan struct{})}
		l := NewLines(v, lossOf)
		begin := time.Now()
		say(l, "first")
		synctest.Wait() // the first line is on its way, and stuck
		line := strings.Repeat("x", 1023)
		for range queueBytes/1024 - 1 {
			say(l, line)
		}
		say(l, strings.Repeat("y", 1023)) // fills the queue to the last byte
		if l.Dropped() != 0 {
			t.Errorf("%d lines dropped from a queue that is just full", l.Dropped())
		}
		say(l, "", line)
		if l.Dropped() != 2 || time.Since(begin) != 0 {
			t.Errorf("%d lines dropped after %v", l.Dropped(), time.Since(begin))
		}
		close(v.gate)
		time.Sleep(gatherTime)
		synctest.Wait()
		if !strings.HasSuffix(v.String(), "y\nlost 2\n") || strings.Count(v.String(), "\n") != queueBytes/1024+2 {
			t.Errorf("%d lines, the last are %q", strings.Count(v.String(), "\n"), v.String()[max(0, v.text.Len()-20):])
		}
		// A line that could never wait does not end the others.
		say(l, strings.Repeat("z", queueBytes))
		time.Sleep(gatherTime)
		synctest.Wait()
		say(l, "next")
		l.Close()
		if l.Dropped() != 3 || !strings.HasSuffix(v.String(), "lost 2\nlost 1\nnext\n") {
			t.Errorf("%d dropped, ends %q", l.Dropped(), v.String()[max(0, v.text.Len()-30):])
		}
	})
}

// A destination that fails wherever it likes loses whole lines, and hears of them once it is well: by itself, and in a
// line of their own.
func TestAFailureLosesWholeLines(t *testing.T) {
	t.Parallel()
	for room := range 12 {
		synctest.Test(t, func(t *testing.T) {
			v := &valve{room: 0, gate: make(chan struct{}, 1)}
			l := NewLines(v, lossOf)
			say(l, "zero")
			synctest.Wait()
			say(l, "one", "two", "three")
			v.set(room)
			close(v.gate) // the write of "zero" goes on
			synctest.Wait()
			v.set(0)
			time.Sleep(3 * restTime) // the others are tried, and fail as well
			v.set(-1)
			time.Sleep(restTime)
			synctest.Wait()
			told := 0
			for line := range strings.Lines(v.String()) {
				if n, _ := fmt.Sscanf(line, "lost %d\n", &told); n == 0 && line != "zero\n" && line != "one\n" &&
					line != "two\n" && line != "three\n" {
					t.Errorf("room for %d: a torn line in %q", room, v.String())
				}
			}
			if told == 0 || uint64(told) != l.Dropped() || told+strings.Count(v.String(), "\n") != 5 {
				t.Errorf("room for %d: %d dropped, told %q", room, l.Dropped(), v.String())
			}
			l.Close()
		})
	}
}

func TestTheLineOfTheLossMayFailToo(t *testing.T) {
	t.Parallel()
	for room := range len("lost 1\n") {
		synctest.Test(t, func(t *testing.T) {
			v := &valve{}
			l := NewLines(v, lossOf)
			say(l, "gone")
			synctest.Wait()
			v.set(room)
			time.Sleep(restTime)
			synctest.Wait()
			v.set(-1)
			time.Sleep(restTime)
			l.Close()
			if v.String() != "lost 1\n" || l.Dropped() != 1 {
				t.Errorf("room for %d: %q", room, v.String())
			}
		})
	}
}

// A full pipe: nobody who logs waits, and what was told and what came make the whole.
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
	begin := time.Now()
	for range all {
		say(l, line)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("%d lines took %v", all, took)
	}
	if l.Dropped() == 0 {
		t.Fatal("a pipe that nobody reads has taken it all")
	}
	// Lines that were dropped before the writing began are told apart from later ones.
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
	begin := time.Now()
	l.Close()
	if l.Dropped() != 3 || time.Since(begin) >= flushTime {
		t.Errorf("%d dropped after %v", l.Dropped(), time.Since(begin))
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
