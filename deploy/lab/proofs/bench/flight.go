package main

import (
	"context"
	"fmt"
)

// flight shows how what a run costs changes with how many are in flight: http-headers at a page that answers at once,
// and the memory while as many wait for a target that does not.
func (b *bench) flight(ctx context.Context) error {
	t := table{name: "flight", head: []string{"in flight", "rate", "CPU each", "p50", "p99", "resident while all wait"}}
	url := `"http://" .. ` + name + ` .. "/"`
	for _, n := range []int{1, 10, 100, 1000} {
		s, err := b.inFlight(ctx, load{server: gatewayAddr, lua: posts("http-headers", url)}, n)
		if err != nil {
			return fmt.Errorf("%d in flight: %w", n, err)
		}
		h, err := b.hold(ctx, silences()[2], n)
		if err != nil {
			return fmt.Errorf("%d in flight: %w", n, err)
		}
		fmt.Printf("%4d in flight: %.0f/s, %v of processor time each, p50 %v, p99 %v, %s\n", n, s.Rate, s.CPU, s.P50, s.P99,
			mib(h.total))
		t.add(fmt.Sprint(n), fmt.Sprintf("%.0f/s", s.Rate), micros(s.CPU), ms(s.P50), ms(s.P99), mib(h.total))
	}
	b.tables = append(b.tables, t)
	return nil
}

func (b *bench) inFlight(ctx context.Context, l load, n int) (shot, error) {
	gateway, err := b.startGateway(ctx, nil)
	if err != nil {
		return shot{}, err
	}
	defer gateway.Kill()
	if _, err := b.fire(ctx, l, gateway, n, warmUp); err != nil {
		return shot{}, err
	}
	return b.fire(ctx, l, gateway, n, b.options.shot)
}

func mib(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
