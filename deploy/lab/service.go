package lab

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// startTimeout is how long a shipped binary may take until its /healthz answers.
const startTimeout = 15 * time.Second

// ServiceOptions say what to run and how. Env lines are added to, and win over, what the lab sets.
type ServiceOptions struct {
	Gateway, Worker       string
	GatewayEnv, WorkerEnv []string
	// Env is for every server of the service, those included that are started later.
	Env []string
}

// Server is one running binary.
type Server struct {
	Process *Process
	// Addr is where it listens, inside the service's namespace.
	Addr string
}

// Service is the gateway and its worker.
type Service struct {
	lab     *Lab
	host    string
	opts    ServiceOptions
	token   string
	started atomic.Uint32
	Gateway *Server
	Worker  *Server

	mu        sync.Mutex
	processes []*Process
}

// workerAddr is where the service's worker listens, again after each start.
const workerAddr = "127.77.0.2:8081"

// freshAddr is an address of ServiceLoopback that no server of this service ever had: an answer from it can come from
// one server only.
func (s *Service) freshAddr(port int) string {
	n := s.started.Add(1)
	return fmt.Sprintf("127.77.%d.%d:%d", 1+n/200, 1+n%200, port)
}

// StartService runs the shipped binaries on the service's host, with the lab's resolver and root, and waits until both
// answer.
func (l *Lab) StartService(ctx context.Context, opts ServiceOptions) (*Service, error) {
	return l.startServiceAt(ctx, ServiceHost, opts)
}

func (l *Lab) startServiceAt(ctx context.Context, host string, opts ServiceOptions) (*Service, error) {
	token := make([]byte, 24)
	if _, err := rand.Read(token); err != nil {
		return nil, err
	}
	s := &Service{lab: l, host: host, opts: opts, token: hex.EncodeToString(token)}
	if err := s.StartWorker(ctx); err != nil {
		return nil, err
	}
	var err error
	s.Gateway, err = s.StartGateway(ctx, s.prefix()+"gateway", opts.GatewayEnv...)
	return s, err
}

// StartWorker runs the worker; after a Kill it runs a new one.
func (s *Service) StartWorker(ctx context.Context) error {
	worker, err := s.startWorkerAt(ctx, s.prefix()+"worker", workerAddr, s.opts.WorkerEnv...)
	if err == nil {
		s.Worker = worker
	}
	return err
}

// StartExtraWorker runs a worker beside the service's own, as StartGateway does a gateway. It takes the same
// credential.
func (s *Service) StartExtraWorker(ctx context.Context, name string, env ...string) (*Server, error) {
	return s.startWorkerAt(ctx, name, s.freshAddr(8081), env...)
}

// RestartExtraWorker runs a worker where one that has ended listened.
func (s *Service) RestartExtraWorker(ctx context.Context, ended *Server, env ...string) (*Server, error) {
	return s.startWorkerAt(ctx, ended.Process.Name(), ended.Addr, env...)
}

// ListenBeside listens on an address of its own of ServiceLoopback, for a test that plays a peer of the service.
func (s *Service) ListenBeside(port int) (net.Listener, error) {
	return s.lab.ns[s.host].Listen("tcp", s.freshAddr(port))
}

func (s *Service) startWorkerAt(ctx context.Context, name, addr string, env ...string) (*Server, error) {
	settings := append([]string{
		"WORKER_LISTEN_ADDR=" + addr,
		"DIAGNOSTICS_WORKER_TOKEN=" + s.token,
	}, env...)
	return s.start(ctx, nil, name, s.opts.Worker, addr, settings)
}

// StartGateway runs a gateway beside the service's own, with settings of its own, on an address of its own of
// ServiceLoopback. name is that of its log.
func (s *Service) StartGateway(ctx context.Context, name string, env ...string) (*Server, error) {
	return s.StartGatewayIn(ctx, nil, name, env...)
}

// StartGatewayIn is StartGateway in a group that bounds its memory; nil is none.
func (s *Service) StartGatewayIn(ctx context.Context, g *MemoryGroup, name string, env ...string) (*Server, error) {
	return s.startGatewayAt(ctx, g, s.freshAddr(8080), name, env...)
}

// RestartGateway runs a gateway in the place of one that has ended.
func (s *Service) RestartGateway(ctx context.Context, ended *Server, name string, env ...string) (*Server, error) {
	return s.startGatewayAt(ctx, nil, ended.Addr, name, env...)
}

func (s *Service) startGatewayAt(
	ctx context.Context, g *MemoryGroup, addr, name string, env ...string,
) (*Server, error) {
	settings := append([]string{
		"GATEWAY_LISTEN_ADDR=" + addr,
		"ENABLE_WORKER_TOOLS=true",
		"DIAGNOSTICS_WORKER_URL=http://" + workerAddr,
		"DIAGNOSTICS_WORKER_TOKEN=" + s.token,
		"DNS_RESOLVERS=" + resolverOf[s.host],
		"DNS_ROOT_HINTS_FILE=" + s.lab.RootHintsFile(),
		"DNS_TRUST_ANCHORS_FILE=" + s.lab.TrustAnchorsFile(),
		// Both, so that this machine's own roots are not trusted besides.
		"SSL_CERT_FILE=" + s.lab.RootsFile(),
		"SSL_CERT_DIR=" + s.lab.RootsFile() + ".d",
	}, env...)
	return s.start(ctx, g, name, s.opts.Gateway, addr, settings)
}

// Token is the worker's bearer credential.
func (s *Service) Token() string { return s.token }

func (s *Service) start(
	ctx context.Context, g *MemoryGroup, name, program, addr string, env []string,
) (*Server, error) {
	p, err := s.lab.StartIn(g, s.host, name, append(slices.Clone(s.opts.Env), env...), program)
	if err != nil {
		return nil, err
	}
	s.keep(p)
	if err := s.lab.healthy(ctx, s.host, p, addr); err != nil {
		p.Kill()
		return nil, fmt.Errorf("%s: %w\n%s\n%s", name, err, p.Log(), p.Errors())
	}
	return &Server{Process: p, Addr: addr}, nil
}

// prefix is that of the names of a place's logs.
func (s *Service) prefix() string {
	if s.host == ServiceHost {
		return ""
	}
	return s.host + "-"
}

func (s *Service) keep(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes = append(s.processes, p)
}

// Processes are all that the service has been since its start, those that have ended too.
func (s *Service) Processes() []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.processes)
}

// healthy waits until /healthz answers 200.
func (l *Lab) healthy(ctx context.Context, host string, p *Process, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client := l.HTTPClientAt(host)
	defer client.CloseIdleConnections()
	for {
		if ok := healthyOnce(ctx, client, addr); ok {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-p.Done():
			return errors.New("it ended at its start")
		case <-ctx.Done():
			return errors.New("it does not answer")
		}
	}
}

func healthyOnce(ctx context.Context, client *http.Client, addr string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/healthz", nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// HTTPClient speaks from inside the service's namespace. It closes idle connections long before the gateway does: a
// request that meets a connection in the moment of its closing fails, as a POST is not sent again.
func (l *Lab) HTTPClient() *http.Client { return l.HTTPClientAt(ServiceHost) }

// HTTPClientAt is HTTPClient inside another node.
func (l *Lab) HTTPClientAt(node string) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: l.ns[node].DialContext, MaxIdleConnsPerHost: 128, IdleConnTimeout: 5 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
