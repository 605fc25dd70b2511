//go:build !linux

package daemon

import "syscall"

// beginNoMore reports whether the system lets a socket take no more connections, which only that of the services does.
func beginNoMore(syscall.RawConn) bool { return false }

// noneWaits reports whether no connection waits, which is not known there.
func noneWaits(syscall.RawConn) bool { return true }
