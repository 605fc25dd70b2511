package traffic_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"
)

// connected gives a counted connection and one that takes whatever is sent over it, and sends what the test wants.
func connected(t *testing.T, ctx context.Context, send io.Reader) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	done := make(chan struct{}, 2)
	for _, f := range []func(){
		func() { _, _ = io.Copy(io.Discard, theirs) }, func() { _, _ = io.Copy(theirs, send) },
	} {
		go func() {
			f()
			done <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		ours.Close()
		theirs.Close()
		<-done
		<-done
	})
	return traffic.Count(ctx, ours, false)
}

func TestWithoutMeter(t *testing.T) {
	t.Parallel()
	if err := traffic.Room(t.Context(), 1<<30); err != nil {
		t.Errorf("no one counts: %v", err)
	}
	traffic.Dialled(t.Context())
	c := connected(t, t.Context(), strings.NewReader(""))
	traffic.Hold(c)
	for range 3 {
		if _, err := c.Write(make([]byte, traffic.MaxSent)); err != nil {
			t.Errorf("no one counts: %v", err)
		}
	}
}

// The connections of a run share its bound; one that is not held counts and goes on.
func TestSent(t *testing.T) {
	t.Parallel()
	ctx := traffic.WithMeter(t.Context(), new(traffic.Totals))
	first, second, free := connected(t, ctx, strings.NewReader("")), connected(t, ctx, strings.NewReader("")),
		connected(t, ctx, strings.NewReader(""))
	traffic.Hold(first)
	traffic.Hold(second)
	const half = traffic.MaxSent / 2
	write := func(c net.Conn, want bool) {
		t.Helper()
		n, err := c.Write(make([]byte, half))
		if ok := err == nil; ok != want || !ok && (!fault.Is(err, fault.Limited) || n != 0) {
			t.Errorf("%d written, %v; want success: %t", n, err, want)
		}
	}
	write(first, true)
	if err := traffic.Room(ctx, half/2); err != nil {
		t.Error(err)
	}
	if err := traffic.Room(ctx, half); !fault.Is(err, fault.Limited) { // packets have headers
		t.Errorf("room for as much again: %v", err)
	}
	write(second, false)
	write(free, true)
	if err := traffic.Room(ctx, 1); !fault.Is(err, fault.Limited) {
		t.Errorf("room: %v", err)
	}
	if _, err := first.Write([]byte("x")); !fault.Is(err, fault.Limited) {
		t.Errorf("a further byte: %v", err)
	}
	if err := traffic.Room(traffic.WithMeter(t.Context(), new(traffic.Totals)), half); err != nil {
		t.Errorf("another run: %v", err)
	}
}

func TestDials(t *testing.T) {
	t.Parallel()
	ctx := traffic.WithMeter(t.Context(), new(traffic.Totals))
	n := 0
	for ; traffic.Room(ctx, 0) == nil; n++ {
		traffic.Dialled(ctx)
	}
	if n < 100 || n > 1000 {
		t.Errorf("%d connections", n)
	}
}

func TestDrawn(t *testing.T) {
	t.Parallel()
	for _, held := range []bool{true, false} {
		ctx := traffic.WithMeter(t.Context(), new(traffic.Totals))
		c := connected(t, ctx, io.LimitReader(zeros{}, traffic.MaxReceived+1))
		if held {
			traffic.Hold(c)
		}
		if _, err := io.CopyN(io.Discard, c, traffic.MaxReceived); err != nil {
			t.Fatal(err)
		}
		_, err := c.Read(make([]byte, 1))
		if failed := fault.Is(err, fault.Upstream); failed != held || !held && err != nil {
			t.Errorf("held %t: a byte past the bound: %v", held, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A reader must not wait for an answer to what was not sent.
func TestARefusedWriteEndsTheReading(t *testing.T) {
	t.Parallel()
	ctx := traffic.WithMeter(t.Context(), new(traffic.Totals))
	never, writer := io.Pipe()
	c := connected(t, ctx, never)
	defer writer.Close()
	traffic.Hold(c)
	read := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		read <- err
	}()
	if _, err := c.Write(make([]byte, traffic.MaxSent)); !fault.Is(err, fault.Limited) {
		t.Error(err)
	}
	if err := <-read; !fault.Is(err, fault.Limited) {
		t.Error(err)
	}
}

// The connections of a share fail together once it is received, and no others do.
func TestShare(t *testing.T) {
	t.Parallel()
	const all = 10_000
	full := &fault.Error{Kind: fault.Limited, Code: "SITEMAPS_TOO_LARGE"}
	run := traffic.WithMeter(t.Context(), new(traffic.Totals))
	ctx := traffic.WithShare(run, all, full)
	endless := func(ctx context.Context, held bool) net.Conn {
		c := connected(t, ctx, strings.NewReader(strings.Repeat("x", 4*all)))
		if held {
			traffic.Hold(c)
		}
		return c
	}
	first, second, free, other := endless(ctx, true), endless(ctx, true), endless(ctx, false), endless(run, true)
	read := func(c net.Conn, n int, want error) {
		t.Helper()
		if _, err := io.ReadFull(c, make([]byte, n)); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", n, err, want)
		}
	}
	read(first, all/2, nil)
	read(second, all/2, nil)
	read(first, 1, full)
	read(second, 1, full)
	read(free, 2*all, nil)
	read(other, 2*all, nil)
	for range 2 {
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}
}
