package parallel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"diagnostics/shared/parallel"

	"go.uber.org/goleak"
)

// hostile panics in a function whose name a stack must show.
func hostile(value any) { panic(value) }

// caught gives the panic of f in this goroutine.
func caught(t *testing.T, f func()) *parallel.Panic {
	t.Helper()
	p := parallel.Catch(f)
	if p == nil {
		t.Fatal("there is no panic")
	}
	return p
}

func TestCatch(t *testing.T) {
	t.Parallel()
	if p := parallel.Catch(func() {}); p != nil {
		t.Errorf("a function that returns: %v", p)
	}
	p := caught(t, func() { hostile("boom") })
	if p.Value != "boom" || !bytes.Contains(p.Stack, []byte("hostile")) || !strings.Contains(p.Error(), "boom") {
		t.Errorf("%v", p)
	}
	// A panic that crosses several goroutines keeps its first stack.
	if again := caught(t, func() { panic(p) }); again != p {
		t.Errorf("caught again: %v", again)
	}
	if p := caught(t, func() { hostile(io.ErrUnexpectedEOF) }); !errors.Is(p, io.ErrUnexpectedEOF) {
		t.Errorf("%v does not unwrap to the error that it holds", p)
	}
}

func TestTryGivesAPanicAsAnError(t *testing.T) {
	t.Parallel()
	if v, err := parallel.Try(func() (int, error) { return 1, io.EOF }); v != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("%d, %v", v, err)
	}
	var p *parallel.Panic
	v, err := parallel.Try(func() (v int, _ error) { v = 1; hostile("boom"); return v, nil })
	if v != 0 || !errors.As(err, &p) || p.Value != "boom" {
		t.Errorf("%d, %v", v, err)
	}
	parallel.Raise(nil)
	parallel.Raise(io.EOF)
	if got := caught(t, func() { parallel.Raise(fmt.Errorf("dial: %w", err)) }); got != p {
		t.Errorf("%v", got)
	}
}

func TestGroup(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	var g parallel.Group
	for range 20 {
		g.Go(func() { ran.Add(1) })
	}
	g.Wait()
	if ran.Load() != 20 {
		t.Errorf("%d ran", ran.Load())
	}
}

func TestGroupPanics(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(){
		"panic": func() { hostile("boom") },
		// Goexit is what testing's FailNow calls.
		"goexit":    runtime.Goexit,
		"nil panic": func() { hostile(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var others atomic.Int32
			var g parallel.Group
			g.Go(f)
			for range 5 {
				g.Go(func() { others.Add(1) })
			}
			caught(t, g.Wait)
			if others.Load() != 5 {
				t.Errorf("Wait did not wait for the others: %d", others.Load())
			}
		})
	}
}

func TestEachCallsForEveryNumberButFewAtOnce(t *testing.T) {
	t.Parallel()
	for _, atOnce := range []int{1, 3, 50} {
		var calls [20]atomic.Int32
		var running, most atomic.Int32
		parallel.Each(len(calls), atOnce, func(i int) {
			for now := running.Add(1); ; {
				before := most.Load()
				if now <= before || most.CompareAndSwap(before, now) {
					break
				}
			}
			runtime.Gosched()
			calls[i].Add(1)
			running.Add(-1)
		})
		for i := range calls {
			if n := calls[i].Load(); n != 1 {
				t.Errorf("%d at once: %d calls for %d", atOnce, n, i)
			}
		}
		if most.Load() > int32(atOnce) {
			t.Errorf("%d ran at once, more than %d", most.Load(), atOnce)
		}
	}
	parallel.Each(0, 3, func(int) { t.Error("none was to be called") })
	caught(t, func() { parallel.Each(4, 2, func(i int) { hostile(i) }) })
}

func TestApartWaitsAndRaises(t *testing.T) {
	t.Parallel()
	done := false
	parallel.Apart(func() { done = true })
	if !done {
		t.Error("Apart has returned before its function")
	}
	p := caught(t, func() { parallel.Apart(func() { hostile("boom") }) })
	if p.Value != "boom" || !bytes.Contains(p.Stack, []byte("hostile")) {
		t.Errorf("%v", p)
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	p := parallel.Start(func() []int { <-release; return []int{1, 2} })
	select {
	case <-p.Done():
		t.Error("done before it is")
	default:
	}
	close(release)
	for range 2 {
		if got := p.Wait(); !slices.Equal(got, []int{1, 2}) {
			t.Errorf("%v", got)
		}
	}
	<-p.Done()
}

func TestStartPanics(t *testing.T) {
	t.Parallel()
	p := parallel.Start(func() int { hostile("boom"); return 1 })
	for range 2 {
		if got := caught(t, func() { p.Wait() }); got.Value != "boom" {
			t.Errorf("%v", got)
		}
	}
}

func TestGoGivesAPanicToTheCaller(t *testing.T) {
	t.Parallel()
	done := make(chan *parallel.Panic, 1)
	parallel.Go(func() {}, func(p *parallel.Panic) { done <- p })
	if p := <-done; p != nil {
		t.Errorf("%v", p)
	}
	parallel.Go(func() { hostile("boom") }, func(p *parallel.Panic) { done <- p })
	if p := <-done; p == nil || p.Value != "boom" {
		t.Errorf("%v", p)
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	conn, other := net.Pipe()
	defer func() { _, _ = conn.Close(), other.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	stop := parallel.Interrupt(ctx, conn)
	read := make(chan error)
	parallel.Go(func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}, func(*parallel.Panic) {})

	cancel()
	if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the read ended with %v", err)
	}
	if stop() {
		t.Error("the watch was ended after it had done its work")
	}
}

func TestInterruptThatIsStopped(t *testing.T) {
	t.Parallel()
	conn, other := net.Pipe()
	defer func() { _, _ = conn.Close(), other.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	if !parallel.Interrupt(ctx, conn)() {
		t.Fatal("the watch was not ended")
	}
	cancel()
	parallel.Go(func() { _, _ = other.Write([]byte{1}) }, func(*parallel.Panic) {})
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Errorf("the read ended with %v", err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
