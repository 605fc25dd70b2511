package parallel

import (
	"context"
	"time"
)

// Interrupt ends what a connection (a net.Conn) waits for once the context ends: a read or write then fails with
// os.ErrDeadlineExceeded. It does so by the connection's deadline, so nobody else may set one meanwhile. The function
// that it returns ends the watch; it reports false where the context has ended already.
func Interrupt(ctx context.Context, conn interface{ SetDeadline(time.Time) error }) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}
