package goroutines

import (
	"context"
	"net"
	"sync"
	"time"

	"diagnostics/shared/parallel"
)

func innocent(ctx context.Context, cancel func(), conn net.Conn, work func()) {
	var mu sync.Mutex
	mu.Lock()
	var all parallel.Group
	all.Go(work)
	context.AfterFunc(ctx, cancel)
	context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	time.AfterFunc(time.Second, func() { conn.Close() })
}
