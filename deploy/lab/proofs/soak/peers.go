package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"diagnostics/lab"
)

// slowReaders request large answers, and read a byte a second of them until they go.
func (s *soak) slowReaders(ctx context.Context) error {
	conns, err := s.connect(ctx, 12)
	defer reset(conns)
	if err != nil {
		return err
	}
	for n, conn := range conns {
		body := fmt.Sprintf(`{"input":"slow-%d-%d.%s"}`, time.Now().UnixNano(), n, lab.HeavyName)
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		_, err := fmt.Fprintf(conn, "POST /api/tools/dns-lookup HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
			"X-Real-IP: 11.210.0.%d\r\nContent-Length: %d\r\n\r\n%s", s.gateway.Addr, 1+n, len(body), body)
		if err != nil {
			return err
		}
	}
	for range 4 {
		for _, conn := range conns {
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			_, _ = conn.Read(make([]byte, 1))
		}
		wait(time.Second)
	}
	return nil
}

// halfOpen are connections that begin a request, or not even that, and never go on.
func (s *soak) halfOpen(ctx context.Context) error {
	conns, err := s.connect(ctx, 200)
	defer reset(conns)
	if err != nil {
		return err
	}
	for n, conn := range conns {
		if n%2 == 0 {
			_, _ = io.WriteString(conn, "POST /api/tools/my-ip HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n")
		}
	}
	wait(faultTime)
	return nil
}

func (s *soak) connect(ctx context.Context, n int) (conns []net.Conn, err error) {
	for range n {
		conn, err := s.lab.Dial(context.WithoutCancel(ctx), "tcp", s.gateway.Addr)
		if err != nil {
			return conns, err
		}
		conns = append(conns, conn)
	}
	return conns, nil
}

// reset ends connections without the usual goodbye.
func reset(conns []net.Conn) {
	for _, conn := range conns {
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
}
