//go:build !linux

package daemon

import "syscall"

// refuseNew reports whether the system lets a socket take no more connections, which only that of the services does.
func refuseNew(syscall.RawConn) bool { return false }

// backlogEmpty reports whether no connection waits, which is not known there.
func backlogEmpty(syscall.RawConn) bool { return true }
