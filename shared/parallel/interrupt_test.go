package parallel_test

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"

	"diagnostics/shared/parallel"
)

func TestInterrupt(t *testing.T) {
	t.Parallel()
	conn, other := net.Pipe()
	defer func() { _, _ = conn.Close(), other.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	stop := parallel.Interrupt(ctx, conn)
	read := make(chan error)
	parallel.Go(func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}, func(*parallel.Panic) {})

	cancel()
	if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the read ended with %v", err)
	}
	if stop() {
		t.Error("the watch was ended after it had done its work")
	}
}

func TestInterruptThatIsStopped(t *testing.T) {
	t.Parallel()
	conn, other := net.Pipe()
	defer func() { _, _ = conn.Close(), other.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	if !parallel.Interrupt(ctx, conn)() {
		t.Fatal("the watch was not ended")
	}
	cancel()
	parallel.Go(func() { _, _ = other.Write([]byte{1}) }, func(*parallel.Panic) {})
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Errorf("the read ended with %v", err)
	}
}
