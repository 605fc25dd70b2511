//go:build !linux

package traffic

// windowClamp is no option of other systems, which refuse it.
const windowClamp = -1
