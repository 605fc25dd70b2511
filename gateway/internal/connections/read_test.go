package connections

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A read ends at the deadline that was set last, whenever it was set.
func TestReadDeadline(t *testing.T) {
	t.Parallel()
	const never, s = time.Hour, time.Second
	type step struct {
		at    time.Duration // after the beginning of the read; 0 is before
		until time.Duration // after the beginning; 0 is no deadline, negative is long ago
	}
	for _, test := range []struct {
		name  string
		steps []step
		sent  time.Duration // when the other end sends a byte
		ends  time.Duration
		cut   bool
	}{
		{"none", nil, 90 * s, 90 * s, false},
		{"one", []step{{0, 10 * s}}, never, 10 * s, true},
		{"in time", []step{{0, 10 * s}}, 9 * s, 9 * s, false},
		{"later, before", []step{{0, 10 * s}, {0, 15 * s}}, never, 15 * s, true},
		{"later, meanwhile", []step{{0, 10 * s}, {5 * s, 75 * s}}, never, 75 * s, true},
		{"later and in time", []step{{0, 10 * s}, {5 * s, 75 * s}}, 74 * s, 74 * s, false},
		{"earlier, before", []step{{0, 75 * s}, {0, 10 * s}}, never, 10 * s, true},
		{"earlier, meanwhile", []step{{0, 75 * s}, {5 * s, 10 * s}}, never, 10 * s, true},
		{"at once", []step{{0, 75 * s}, {5 * s, -time.Hour}}, never, 5 * s, true},
		{"at once, where there was none", []step{{5 * s, -time.Hour}}, never, 5 * s, true},
		{"gone", []step{{0, 10 * s}, {5 * s, 0}}, 90 * s, 90 * s, false},
		{"over, then gone", []step{{0, -time.Hour}, {0, 0}}, 90 * s, 90 * s, false},
		{"over, then later", []step{{0, -time.Hour}, {0, 75 * s}, {0, 10 * s}}, never, 10 * s, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				table := New(Limits{Shared: func(netip.Addr) bool { return false }, Stall: time.Second})
				raw, other := net.Pipe()
				c := table.admit(raw)
				defer c.Close()
				defer other.Close()
				began := time.Now()
				set := func(step step) {
					at := time.Time{}
					if step.until != 0 {
						at = began.Add(step.until)
					}
					if err := c.SetReadDeadline(at); err != nil {
						t.Error(err)
					}
				}
				for _, step := range test.steps {
					if step.at == 0 {
						set(step)
						continue
					}
					time.AfterFunc(step.at, func() { set(step) })
				}
				time.AfterFunc(test.sent, func() { _, _ = other.Write([]byte{1}) })
				n, err := c.Read(make([]byte, 1))
				if took := time.Since(began); took != test.ends || (n == 0) != test.cut ||
					errors.Is(err, os.ErrDeadlineExceeded) != test.cut {
					t.Errorf("%d bytes and %v after %v, want %v", n, err, took, test.ends)
				}
			})
		})
	}
}
