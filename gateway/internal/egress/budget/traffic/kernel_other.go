//go:build !linux

package traffic

import "syscall"

// windowClamp is no option of other systems, which refuse it.
const windowClamp = -1

// kernelOf is not known there.
func kernelOf(syscall.RawConn) (kernel, bool) { return kernel{}, false }
