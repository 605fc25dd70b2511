package daemon

import (
	"os"
	"os/signal"
	"syscall"
)

// Hangups gives a SIGHUP whenever there was one since the last that was taken, until stop is called.
func Hangups() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
