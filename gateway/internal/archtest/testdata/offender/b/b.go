// Package b imports what a rule may forbid.
package b

import "os/exec"

// Run runs a command.
func Run() error { return exec.Command("true").Run() }
