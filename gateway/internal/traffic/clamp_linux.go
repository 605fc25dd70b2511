package traffic

import "syscall"

const windowClamp = syscall.TCP_WINDOW_CLAMP
