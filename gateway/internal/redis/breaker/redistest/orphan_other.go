//go:build !linux

package redistest

import "syscall"

func noOrphan() *syscall.SysProcAttr { return nil }
