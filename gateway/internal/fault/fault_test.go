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

	"diagnostics/gateway/internal/tool/finding"

	"go.uber.org/goleak"
)

func TestErrorKeepsTheCauseFromTheSentence(t *testing.T) {
	t.Parallel()
	plain := New(Invalid, "NAME_MISSING", nil)
	if plain.Error() != "The hostname is missing." || plain.Unwrap() != nil {
		t.Errorf("New: %+v", plain)
	}
	f := OfOption("size", "OPTION_NOT_FLAG", finding.Args{"option": "size"})
	if f.Kind != Invalid || f.Sentence() != "The option size must be true or false." || f.Option != "size" {
		t.Errorf("OfOption: %+v", f)
	}
	wrapped := Wrap(Upstream, io.ErrUnexpectedEOF, "BODY_CORRUPT", nil)
	if wrapped.Sentence() != "The compressed body is corrupt." {
		t.Errorf("the sentence holds the cause: %q", wrapped.Sentence())
	}
	if wrapped.Error() != "The compressed body is corrupt.: unexpected EOF" || !errors.Is(wrapped, io.ErrUnexpectedEOF) {
		t.Errorf("the log has no cause: %q", wrapped.Error())
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	inner := New(Timeout, "TLS_TIMEOUT", nil)
	for _, c := range []struct {
		name string
		err  error
		kind Kind
		want bool
	}{
		{"itself", inner, Timeout, true},
		{"wrapped", fmt.Errorf("dial: %w", inner), Timeout, true},
		{"another kind", inner, Upstream, false},
		{"the outermost fault decides", Wrap(Upstream, inner, "BODY_CORRUPT", nil), Upstream, true},
		{"the cause does not", Wrap(Upstream, inner, "BODY_CORRUPT", nil), Timeout, false},
		{"another error", io.EOF, Timeout, false},
		{"none", nil, Timeout, false},
		{"the zero kind is no kind", New(0, "x", nil), Invalid, false},
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
		{"wrapped", Wrap(Upstream, fmt.Errorf("dial: %w", context.DeadlineExceeded), "BODY_CORRUPT", nil), true},
		{"one of several", errors.Join(dial(syscall.ECONNREFUSED), os.ErrDeadlineExceeded), true},
		{"the caller's leaving", context.Canceled, false},
		{"a refusal", dial(syscall.ECONNREFUSED), false},
		{"our own word for it", New(Timeout, "TLS_TIMEOUT", nil), false},
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
		0: "1 second", time.Second: "1 second", time.Second + 1e6: "2 seconds", 119 * time.Second: "119 seconds",
		119*time.Second + 1e6: "2 minutes", 2 * time.Minute: "2 minutes", 2*time.Minute + time.Second: "3 minutes",
	} {
		e := LimitedFor(wait, "TOO_MANY_REQUESTS")
		if e.Kind != Limited || e.Sentence() != "Too many requests. Try again in "+want+"." ||
			e.RetryAfter != max(wait, time.Second) {
			t.Errorf("%s: %+v", wait, e)
		}
	}
}

func TestMain(m *testing.M) {
	finding.Mistaken = func(mistake string) { panic(mistake) }
	goleak.VerifyTestMain(m)
}

func TestRows(t *testing.T) {
	t.Parallel()
	for _, problem := range Rows.Check() {
		t.Error(problem)
	}
	for code, want := range map[string]string{
		"CONNECTION_REFUSED": "it refused the connection on port 25",
		"REDIRECT_LOOP":      "its redirects form a loop",
		"TOO_MANY_REDIRECTS": "it redirects more than 5 times",
		"NO_IPV6_HERE":       "this service has no IPv6 connection",
		"ASN_TIMEOUT":        "the ASN service did not answer in time. Please try again later",
	} {
		args := map[string]finding.Args{"CONNECTION_REFUSED": {"host": "a.example", "port": 25},
			"TOO_MANY_REDIRECTS": {"limit": 5}}
		if got := Rows.Clause(code, args[code]); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// TestFailuresConclude holds that every failure of a run has a conclusion. Requests that never begin a run have none,
// and neither have reasons that are only a part of other sentences.
func TestFailuresConclude(t *testing.T) {
	t.Parallel()
	reasons := finding.Rows{"SERVER_NAME_NOT_PUBLIC": {}, "BROWSERS_FOLLOW": {}}
	before := finding.Join(adviceRows, inputRows, nameInputRows, requestRows, http3Rows, reasons)
	for code, row := range Rows {
		_, is := before[code]
		if concludes := row.State != ""; row.Message != "" && concludes == is {
			t.Errorf("%s concludes: %v, want %v", code, concludes, !is)
		}
	}
	for _, tt := range []struct {
		code, want string
		args       finding.Args
		is         bool
	}{
		{"NAME_NOT_FOUND", "NAME_NOT_FOUND", finding.Args{"host": "a.example"}, true},
		{"INPUT_NOT_UTF8", "", nil, false},
		{"PLACE_SEES", "NAME_NOT_FOUND", finding.Args{"place": "F", "seen": "NAME_NOT_FOUND", "host": "a.example"}, true},
		{"PLACE_SEES", "PLACE_SEES", finding.Args{"place": "F"}, true},
	} {
		if got, is := Conclude(tt.code, tt.args); is != tt.is || got.Code != tt.want || is && got.Brief == "" {
			t.Errorf("%s %v: %+v, %v", tt.code, tt.args, got, is)
		}
	}
}
