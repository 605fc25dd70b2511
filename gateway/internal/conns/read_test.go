package conns

import (
	"errors"
	"io"
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

// countedReads is a connection that counts how often it is read.
type countedReads struct {
	net.Conn
	reads int
}

func (c *countedReads) Read(p []byte) (int, error) {
	c.reads++
	return c.Conn.Read(p)
}

// The look for a visitor who leaves costs the socket nothing where it is taken back at once, however often.
func TestLookIsTakenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		table := New(Limits{Shared: func(netip.Addr) bool { return false }, Stall: time.Second})
		pipe, other := net.Pipe()
		raw := &countedReads{Conn: pipe}
		c := table.admit(raw)
		defer c.Close()
		for n, after := range []time.Duration{0, 1, lookAfter / 2, lookAfter - 1, lookAfter + time.Second} {
			time.AfterFunc(after, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
			began := time.Now()
			_, err := c.Read(make([]byte, 1))
			if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took != after {
				t.Errorf("look %d: %v after %v, want it taken back after %v", n, err, took, after)
			}
			if err := c.SetReadDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
			if looked := raw.reads > 0; looked != (after > lookAfter) {
				t.Errorf("look %d: the socket was read %d times", n, raw.reads)
			}
		}
		time.AfterFunc(lookAfter+1, func() { _ = other.Close() })
		began := time.Now()
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(began) != lookAfter+1 {
			t.Errorf("a visitor who leaves: %v after %v, want the end after %v", err, time.Since(began), lookAfter+1)
		}
	})
}
