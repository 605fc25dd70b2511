// Package goroutines starts goroutines in every way that the rule knows. It is parsed, never built.
package goroutines

import (
	"context"
	group "sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
)

type embedded struct{ group.WaitGroup }

func guilty(ctx context.Context, work func(), conn interface{ Close() error }) {
	go work()
	go func() { work() }()
	var all group.WaitGroup
	all.Go(work)
	new(errgroup.Group).Go(func() error { work(); return nil })
	new(singleflight.Group).DoChan("", nil)
	time.AfterFunc(time.Second, work)
	time.AfterFunc(time.Second, func() { work() })
	context.AfterFunc(ctx, func() { conn.Close(); work() })
	context.AfterFunc(ctx, func() { parse(conn.Close()) })
}
