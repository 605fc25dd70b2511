//go:build !linux

package daemon

import (
	"errors"
	"syscall"
)

// refuseNew fails: only Linux can refuse connections to a listener that is still open.
func refuseNew(syscall.RawConn) error { return errors.ErrUnsupported }

// backlogEmpty reports whether no connection waits; only Linux can report one.
func backlogEmpty(syscall.RawConn) bool { return true }
