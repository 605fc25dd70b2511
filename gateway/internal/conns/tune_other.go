//go:build !linux

package conns

import "syscall"

// tune does nothing where the system is not the one that the service is shipped for.
func tune(syscall.RawConn) {}

// acknowledged reports whether all was acknowledged, which is not known there.
func acknowledged(syscall.RawConn) bool { return false }
