//go:build !linux

package traffic

import "syscall"

// kernelOf is not known there.
func kernelOf(syscall.RawConn) (kernel, bool) { return kernel{}, false }
