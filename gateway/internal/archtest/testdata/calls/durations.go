package calls

import (
	"context"
	"log/slog"
	"time"

	"example.com/other"
)

type thing struct {
	log     *slog.Logger
	delay   time.Duration
	another other.Log
}

// Seven durations are logged, and then some that are no durations any more.
func (t thing) durations(ctx context.Context, lost time.Time, innocent string) {
	t.log.Info("back", slog.Duration("outage", time.Since(lost)))
	t.log.Info("back", "outage", time.Since(lost))
	t.log.Warn("draining", "delay", t.delay.String())
	t.log.LogAttrs(ctx, slog.LevelInfo, "draining", slog.Any("delay", t.delay))
	t.log.LogAttrs(ctx, slog.LevelInfo, "draining", slog.String("delay", (t.delay+time.Second).String()))
	t.another.Info("draining", "delay", t.delay)
	t.log.With("delay", t.delay).Info("draining")

	t.log.Info("back", "outageMs", t.delay.Milliseconds(), "name", innocent)
	t.log.LogAttrs(ctx, slog.LevelInfo, "back", slog.Float64("outageMs", float64(t.delay)/1e6))
	_ = t.delay.String()
}
