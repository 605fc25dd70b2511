//go:build !linux

package daemon

import "syscall"

// refuseNew reports whether new connections are refused, which only Linux supports.
func refuseNew(syscall.RawConn) bool { return false }

// backlogEmpty reports whether no connection waits; only Linux can report one.
func backlogEmpty(syscall.RawConn) bool { return true }
