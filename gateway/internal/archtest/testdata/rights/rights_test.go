// Package rights has one use of each kind that TestNothingNeedsRoot looks for.
package rights

import (
	"net"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRights(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	_, _ = net.ListenPacket("ip4:icmp", "127.0.0.1")
	_ = syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	_ = unix.Mount("a", "b", "", 0, "")
	_ = os.Chown("a", 0, 0)
}
