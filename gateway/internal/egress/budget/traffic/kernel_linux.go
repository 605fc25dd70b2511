package traffic

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const windowClamp = syscall.TCP_WINDOW_CLAMP

// kernelOf queries the kernel (tcp(7), TCP_INFO).
func kernelOf(control syscall.RawConn) (k kernel, ok bool) {
	_ = control.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return
		}
		ok = true
		k.answers = int64(info.Segs_out) - int64(info.Data_segs_out)
		if came := int64(info.Data_segs_in); came > 0 {
			size := max(1, int64(info.Bytes_received)/came) //nolint:gosec // far below the bound of a run
			k.underWay = int64(info.Rcv_ssthresh) / size
		}
	})
	return k, ok
}
