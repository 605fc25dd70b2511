//go:build !linux

package daemon

import "syscall"

// beginNoMore is not to be had where the system is not the one that the services are shipped for.
func beginNoMore(syscall.RawConn) bool { return false }

// noneWaits is not known there.
func noneWaits(syscall.RawConn) bool { return true }
