package main

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"diagnostics/lab"
)

// Where Redis and the private listeners are, inside the service's namespace.
const (
	redisAddr     = "127.77.0.3:6379"
	gatewayMeter  = "127.77.8.1:9090"
	workerMeter   = "127.77.8.2:9090"
	limitWindow   = 10 * time.Second
	shutdownDelay = time.Second
)

// stack is the whole service: a pair that endures, of which growth is measured, and a pair that is killed and started
// anew. Both pairs get requests, and both share Redis.
type stack struct {
	lab     *lab.Lab
	service *lab.Service // the pair that is killed: its worker keeps its address

	gateway *lab.Server // the gateway that endures
	worker  *lab.Server // its worker
	redis   *lab.Process

	// changing is the gateway of the other pair that takes requests now.
	changing atomic.Pointer[lab.Server]
	settings []string // of both gateways
	others   []*lab.Process
}

// startStack runs everything. The limits stay on, so that every request is counted in Redis, but are so high that no
// request of the mix meets them; their window is short, so that the number of keys soon is what it will be.
func startStack(ctx context.Context, internet *lab.Lab, o options) (*stack, error) {
	s := &stack{lab: internet}
	if err := s.startRedis(ctx); err != nil {
		return nil, err
	}
	s.settings = []string{
		"RATE_LIMIT_REDIS_URL=redis://" + redisAddr,
		"RATE_LIMIT_WINDOW=" + limitWindow.String(), "RATE_LIMIT_REQUESTS=100000", "RATE_LIMIT_CLIENT_REQUESTS=100000",
		"RATE_LIMIT_TARGET_REQUESTS=1000000", "RATE_LIMIT_ADDRESS_REQUESTS=10000000", "RATE_LIMIT_SAMPLES=100000",
		"RATE_LIMIT_PAGES=100000",
		"TRUST_PROXY_HEADERS=true", "CLIENT_ADDRESS_HEADER=x-real-ip", "SHUTDOWN_DELAY=" + shutdownDelay.String(),
	}
	var err error
	s.service, err = internet.StartService(ctx, lab.ServiceOptions{Gateway: o.gateway, Worker: o.worker,
		GatewayEnv: s.settings})
	if err != nil {
		return nil, err
	}
	s.changing.Store(s.service.Gateway)
	s.worker, err = s.service.StartExtraWorker(ctx, "worker-enduring", "METRICS_LISTEN_ADDR="+workerMeter)
	if err != nil {
		return nil, err
	}
	s.gateway, err = s.service.StartGateway(ctx, "gateway-enduring", append(slices.Clone(s.settings),
		"DIAGNOSTICS_WORKER_URL=http://"+s.worker.Addr, "METRICS_LISTEN_ADDR="+gatewayMeter)...)
	return s, err
}

// startAgain is a new gateway in place of the one that changes.
func (s *stack) startAgain(ctx context.Context) (old *lab.Server, err error) {
	next, err := s.service.StartGateway(ctx, "gateway", s.settings...)
	if err != nil {
		return nil, err
	}
	return s.changing.Swap(next), nil
}

func (s *stack) startRedis(ctx context.Context) error {
	p, err := s.lab.StartRedis(ctx, "redis", redisAddr, "--maxmemory", "64mb", "--dir", s.lab.Dir())
	if err != nil {
		return err
	}
	s.redis = p
	s.others = append(s.others, p)
	return nil
}

// keys is how many Redis holds.
func (s *stack) keys(ctx context.Context) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := s.lab.Dial(ctx, "tcp", redisAddr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, "DBSIZE\r\n"); err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(line, ":")), 64)
}

// send sends a signal to a running program.
func send(p *lab.Process, sig syscall.Signal) error { return syscall.Kill(p.PID(), sig) }

// processes are all programs, those that have ended too.
func (s *stack) processes() []*lab.Process { return append(s.service.Processes(), s.others...) }
