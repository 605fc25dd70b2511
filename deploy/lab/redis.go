package lab

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"time"
)

// StartRedis runs an empty redis-server on the service's host, at an address of ServiceLoopback, and waits until it
// answers. settings are those of its command line.
func (l *Lab) StartRedis(ctx context.Context, name, addr string, settings ...string) (*Process, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, err
	}
	p, err := l.Start(ServiceHost, name, nil, program, append([]string{
		"--bind", host, "--port", port, "--save", "", "--appendonly", "no"}, settings...)...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if err = l.ping(ctx, addr); err == nil {
			return p, nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-p.Done():
			return nil, fmt.Errorf("redis ended at its start: %s", p.Log())
		case <-ctx.Done():
			p.Kill()
			return nil, fmt.Errorf("redis does not answer: %w\n%s", err, p.Log())
		}
	}
}

func (l *Lab) ping(ctx context.Context, addr string) error {
	conn, err := l.Dial(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && strings.TrimSpace(line) != "+PONG" {
		err = fmt.Errorf("redis says %q", line)
	}
	return err
}
