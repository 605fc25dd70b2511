package httpapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Whether anybody waited before it ends or not, a run's context looks the same from outside.
func TestRunContextEnds(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	type key struct{}
	tests := []struct {
		name  string
		ends  func(c *runContext, leave context.CancelFunc)
		err   error
		cause error
	}{
		{"nothing happens", func(*runContext, context.CancelFunc) { time.Sleep(time.Minute - 1) }, nil, nil},
		{"its time is over", func(*runContext, context.CancelFunc) { time.Sleep(time.Minute) },
			context.DeadlineExceeded, nil},
		{"the client leaves", func(_ *runContext, leave context.CancelFunc) { leave() }, context.Canceled, nil},
		{"it holds too much", func(c *runContext, _ context.CancelFunc) {
			c.end(full)
			c.end(nil)
		}, context.Canceled, full},
		{"it is over", func(c *runContext, _ context.CancelFunc) {
			c.end(nil)
			c.end(full)
		}, context.Canceled, nil},
	}
	for _, tt := range tests {
		for _, waits := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				parent, leave := context.WithCancel(context.WithValue(t.Context(), key{}, 7))
				defer leave()
				c := newRunContext(parent, time.Minute)
				var child context.Context = c
				if waits {
					var cancel context.CancelFunc
					child, cancel = context.WithCancel(c)
					defer cancel()
				}
				tt.ends(c, leave)
				synctest.Wait()
				if !errors.Is(c.Err(), tt.err) || !errors.Is(child.Err(), tt.err) || (c.Err() == nil) != (tt.err == nil) {
					t.Errorf("%s, waited for %v: error %v, the child's %v; want %v", tt.name, waits, c.Err(), child.Err(), tt.err)
				}
				if !errors.Is(c.Cause(), tt.cause) || (c.Cause() == nil) != (tt.cause == nil) {
					t.Errorf("%s: cause %v, want %v", tt.name, c.Cause(), tt.cause)
				}
				ended := false
				select {
				case <-c.Done():
					ended = true
				default:
				}
				if ended != (tt.err != nil) || c.Value(key{}) != 7 || child.Value(key{}) != 7 {
					t.Errorf("%s, waited for %v: ended %v, value %v", tt.name, waits, ended, c.Value(key{}))
				}
				c.end(nil)
			})
		}
	}
}

// A deadline of the request's own that is earlier counts.
func TestRunContextDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for parent, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: time.Minute} {
			ctx, cancel := context.WithTimeout(t.Context(), parent)
			c := newRunContext(ctx, time.Minute)
			if at, ok := c.Deadline(); !ok || time.Until(at) != want {
				t.Errorf("ends in %v, want %v", time.Until(at), want)
			}
			cancel()
		}
	})
}
