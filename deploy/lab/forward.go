package lab

import (
	"context"
	"io"
	"net"
	"sync"
)

// Forward listens outside the lab, on loopback, and carries each connection to an address inside the service's
// namespace. No device joins the two: only this process's two sockets do. It ends with the lab.
func (l *Lab) Forward(listen, to string) (at string, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		cancel()
		return "", err
	}
	var wg sync.WaitGroup
	l.onClose(func() error {
		cancel()
		err := listener.Close()
		wg.Wait()
		return err
	})
	wg.Go(func() {
		for {
			outside, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { l.carry(ctx, outside, to) })
		}
	})
	return listener.Addr().String(), nil
}

func (l *Lab) carry(ctx context.Context, outside net.Conn, to string) {
	defer outside.Close()
	inside, err := l.Dial(ctx, "tcp", to)
	if err != nil {
		return
	}
	defer inside.Close()
	stop := context.AfterFunc(ctx, func() {
		outside.Close()
		inside.Close()
	})
	defer stop()
	var both sync.WaitGroup
	both.Go(func() { pour(inside, outside) })
	both.Go(func() { pour(outside, inside) })
	both.Wait()
}

// pour copies one direction and passes its end on, so that half-closed conversations work.
func pour(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	if c, ok := to.(*net.TCPConn); ok {
		_ = c.CloseWrite()
	}
}

// Dial connects from inside the service's namespace; address is a literal. It fits http.Transport.DialContext.
func (l *Lab) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return l.ns[ServiceHost].DialContext(ctx, network, address)
}
