package icmp

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// The ports need no right at all: a container's worker has CAP_NET_RAW and nothing else.
func TestReserveWithoutRights(t *testing.T) {
	t.Parallel()
	ended := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with its rights
		ended <- reserveWithoutRights()
	}()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func reserveWithoutRights() error {
	var none [2]unix.CapUserData
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return err
	}
	r, err := reserve()
	if err == nil {
		r.close()
	}
	return err
}
