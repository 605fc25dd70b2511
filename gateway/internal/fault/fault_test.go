package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestErrorKeepsTheCauseFromTheSentence(t *testing.T) {
	t.Parallel()
	plain := New(Invalid, "Enter a host.")
	if plain.Kind != Invalid || plain.Error() != "Enter a host." || plain.Unwrap() != nil {
		t.Errorf("New: %+v", plain)
	}
	if f := Newf(Refused, "%s is refused.", "x"); f.Kind != Refused || f.Sentence != "x is refused." {
		t.Errorf("Newf: %+v", f)
	}
	f := OfOption("size", "%s is no size.", "x")
	if f.Kind != Invalid || f.Sentence != "x is no size." || f.Option != "size" {
		t.Errorf("OfOption: %+v", f)
	}
	wrapped := Wrap(Upstream, io.ErrUnexpectedEOF, "The server hung up.")
	if wrapped.Sentence != "The server hung up." {
		t.Errorf("the sentence holds the cause: %q", wrapped.Sentence)
	}
	if wrapped.Error() != "The server hung up.: unexpected EOF" || !errors.Is(wrapped, io.ErrUnexpectedEOF) {
		t.Errorf("the log has no cause: %q", wrapped.Error())
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	inner := New(Timeout, "Too slow.")
	for _, c := range []struct {
		name string
		err  error
		kind Kind
		want bool
	}{
		{"itself", inner, Timeout, true},
		{"wrapped", fmt.Errorf("dial: %w", inner), Timeout, true},
		{"another kind", inner, Upstream, false},
		{"the outermost fault decides", Wrap(Upstream, inner, "Failed."), Upstream, true},
		{"the cause does not", Wrap(Upstream, inner, "Failed."), Timeout, false},
		{"another error", io.EOF, Timeout, false},
		{"none", nil, Timeout, false},
		{"the zero kind is no kind", New(0, "x"), Invalid, false},
	} {
		if got := Is(c.err, c.kind); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

func TestIsTimeout(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", err)} }
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"a context's deadline", context.DeadlineExceeded, true},
		{"a socket's deadline", &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, true},
		{"the kernel's patience", dial(syscall.ETIMEDOUT), true},
		{"a name server's silence", &net.DNSError{IsTimeout: true}, true},
		{"wrapped", Wrap(Upstream, fmt.Errorf("dial: %w", context.DeadlineExceeded), "Failed."), true},
		{"one of several", errors.Join(dial(syscall.ECONNREFUSED), os.ErrDeadlineExceeded), true},
		{"the caller's leaving", context.Canceled, false},
		{"a refusal", dial(syscall.ECONNREFUSED), false},
		{"our own word for it", New(Timeout, "Too slow."), false},
		{"another error", io.EOF, false},
		{"none", nil, false},
	} {
		if got := IsTimeout(c.err); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

func TestLimitedForSaysWhenToComeAgain(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		0: "1 second", time.Second: "1 second", time.Second + 1: "2 seconds", 119 * time.Second: "119 seconds",
		119*time.Second + 1: "2 minutes", 2 * time.Minute: "2 minutes", 2*time.Minute + time.Second: "3 minutes",
	} {
		e := LimitedFor(wait, "Enough.")
		if e.Kind != Limited || e.Sentence != "Enough; try again in "+want+"." ||
			e.RetryAfter != max(wait, time.Second) {
			t.Errorf("%s: %+v", wait, e)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
