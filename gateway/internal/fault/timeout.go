package fault

import (
	"context"
	"errors"
	"net"
	"os"
)

// IsTimeout reports whether an error says that time was up: that of a context, of a deadline, or the system's patience.
// What of it is a failure of kind Timeout is for the caller to say.
func IsTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &timeout) && timeout.Timeout()
}
