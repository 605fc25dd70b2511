package shortage_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/fault"

	"go.uber.org/goleak"
)

func TestIs(t *testing.T) {
	t.Parallel()
	for errno, want := range map[syscall.Errno]bool{
		syscall.EMFILE:        true,
		syscall.ENFILE:        true,
		syscall.ENOBUFS:       true,
		syscall.ENOMEM:        true,
		syscall.ENOSPC:        true,
		syscall.EADDRNOTAVAIL: true,
		syscall.EAGAIN:        true,
		syscall.ENETDOWN:      true,

		syscall.ECONNREFUSED: false,
		syscall.ECONNRESET:   false,
		syscall.ETIMEDOUT:    false,
		syscall.ENETUNREACH:  false, // which a router says too
		syscall.EHOSTUNREACH: false,
		syscall.EACCES:       false,
		syscall.EPERM:        false,
		syscall.EPIPE:        false,
	} {
		err := &net.OpError{Op: "dial", Net: "tcp4", Err: os.NewSyscallError("connect", errno)}
		if shortage.Is(err) != want || (shortage.Of(err) != nil) != want {
			t.Errorf("%v: %v, %v", errno, shortage.Is(err), shortage.Of(err))
		}
	}
	for _, err := range []error{nil, os.ErrDeadlineExceeded, context.DeadlineExceeded, net.ErrClosed} {
		if shortage.Is(err) || shortage.Of(err) != nil {
			t.Errorf("%v is a shortage", err)
		}
	}
}

func TestTheFault(t *testing.T) {
	t.Parallel()
	f := shortage.Fault(syscall.EMFILE)
	if f.Kind != fault.Busy || f.RetryAfter <= 0 || !errors.Is(f, syscall.EMFILE) {
		t.Errorf("%+v", f)
	}
}

// Connecting over UDP succeeds on a link without a carrier. That nothing comes back is all that is seen of it, be it by
// the time that is up or by the neighbour's missing address.
func TestDialRecorderOfALostRoute(t *testing.T) {
	t.Parallel()
	silence := &net.DNSError{Err: "i/o timeout", IsTimeout: true}
	lost, good := netip.MustParseAddr("192.0.2.53"), netip.MustParseAddr("192.0.2.54")
	for name, test := range map[string]struct {
		servers []netip.Addr
		err     error // of the lookup
		own     bool
	}{
		"silence":                 {[]netip.Addr{lost}, silence, true},
		"silence of all":          {[]netip.Addr{good, lost}, silence, true},
		"around a dial":           {[]netip.Addr{lost}, &net.OpError{Op: "dial", Err: silence}, true},
		"no neighbour":            {[]netip.Addr{lost}, &net.DNSError{Err: "read udp: no route to host"}, true},
		"the way is there":        {[]netip.Addr{good}, silence, false},
		"no server was queried":   {nil, silence, false},
		"another server answered": {[]netip.Addr{lost, good}, &net.DNSError{IsNotFound: true}, false},
		"a failure of what comes": {[]netip.Addr{lost}, syscall.ECONNREFUSED, false},
		"a lookup that succeeded": {[]netip.Addr{lost}, nil, false},
	} {
		w := shortage.DialRecorder{
			Dial: func(context.Context, string, string) (net.Conn, error) { return nil, nil },
			OwnFault: func(err error, server netip.Addr, _ time.Time) error {
				if server == lost && fault.IsTimeout(err) {
					return shortage.Fault(err)
				}
				return nil
			},
		}
		for _, server := range test.servers {
			if _, err := w.Connect(t.Context(), "udp", netip.AddrPortFrom(server, 53).String()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		got := w.Of(test.err)
		if (got != nil) != test.own || test.own && (!fault.Is(got, fault.Busy) || !errors.Is(got, test.err)) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDialRecorder(t *testing.T) {
	t.Parallel()
	failed := &net.DNSError{Err: "no such device or anything"}
	for name, test := range map[string]struct {
		dial error // of the name server
		err  error // of the lookup
		own  bool
	}{
		"a shortage":              {syscall.EMFILE, failed, true},
		"around a dial":           {syscall.EMFILE, &net.OpError{Op: "dial", Err: failed}, true},
		"another's failure":       {syscall.ECONNREFUSED, failed, false},
		"no failure":              {nil, failed, false},
		"another server answered": {syscall.EMFILE, &net.DNSError{IsNotFound: true}, false},
		"a failure of what comes": {syscall.EMFILE, syscall.ECONNREFUSED, false},
		"a lookup that succeeded": {syscall.EMFILE, nil, false},
	} {
		w := shortage.DialRecorder{
			Dial: func(context.Context, string, string) (net.Conn, error) { return nil, test.dial },
			OwnFault: func(err error, server netip.Addr, _ time.Time) error {
				if server != netip.MustParseAddr("192.0.2.53") {
					t.Errorf("%s: queried %v", name, server)
				}
				return shortage.Of(err)
			},
		}
		if _, err := w.Connect(t.Context(), "udp", "192.0.2.53:53"); !errors.Is(err, test.dial) {
			t.Errorf("%s: %v", name, err)
		}
		if got := w.Of(test.err); (got != nil) != test.own || test.own && !errors.Is(got, test.dial) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
