// Package a reaches os/exec through b.
package a

import "offender/b"

// Run is b's.
func Run() error { return b.Run() }
