package redistest

import "syscall"

// noOrphan ends the server with the test run, however that ends.
func noOrphan() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
