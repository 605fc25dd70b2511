// Package tlsserver is the lab's TLS servers, one of every kind that a checker should recognise: real programs
// (OpenSSL, GnuTLS, nginx, Caddy, Go), and for what none of them speaks any more, handshakes written by hand. Each is
// an entry of one table with the truth about it, which the service and other programs are held against.
package tlsserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"diagnostics/lab/internal/site"
)

// Zone is the domain of all these servers but those whose name matters.
const Zone = "lab-tls.com"

// Server is one server.
type Server struct {
	// Host is its label below Zone, or a whole name; in what Table gives always the name.
	Host string
	Port int
	// Note is a line for a person who wonders what to expect.
	Note string
	// Program is what it runs: openssl, gnutls-serv, nginx, caddy; empty is in this process.
	Program   string
	Addresses []netip.Addr
	Truth     Truth

	// more is how many addresses it has beside its first, and start is how it is started.
	more  int
	start func(*workshop, Server) error
}

// Input is what a visitor types to check the server.
func (s Server) Input() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// Table is every server, with the addresses that at gives to the n-th; a server with several has those of its family's
// n-th hundred too.
func Table(at func(n int) (v4, v6 netip.Addr)) []Server {
	var all []Server
	for _, part := range [][]Server{versions(), suitesAndGroups(), names(), certificates(), mail(), slow(), hostile(),
		reported()} {
		all = append(all, part...)
	}
	for i := range all {
		s := &all[i]
		if !strings.Contains(s.Host, ".") {
			s.Host += "." + Zone
		}
		if s.Port == 0 {
			s.Port = 443
		}
		v4, v6 := at(i + 1)
		s.Addresses = []netip.Addr{v4}
		if s.more > 0 {
			other4, other6 := at(i + 101)
			s.Addresses = append(s.Addresses, v6, other4, other6)
		}
	}
	return all
}

// Place is where the servers run: sockets and programs inside a namespace, and a directory for their files.
type Place struct {
	Dir    string
	Listen site.Listen
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	// Run starts a program of the system, which ends with the lab.
	Run func(name, program string, args ...string) error
}

// Missing are the programs of the table that this machine lacks.
func Missing(all []Server) (missing []string) {
	seen := map[string]bool{"": true}
	for _, s := range all {
		if !seen[s.Program] {
			if _, err := exec.LookPath(s.Program); err != nil {
				missing = append(missing, s.Program)
			}
		}
		seen[s.Program] = true
	}
	return missing
}

// Running are started servers.
type Running struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	ends  []net.Listener
}

// workshop is what the servers are started with.
type workshop struct {
	Place
	*Running
	ca  *site.CA
	ctx context.Context
	// nginx and caddy are the configurations of the one process of each.
	nginx, caddy strings.Builder
}

// Start runs the servers, and waits until all of them answer. Close ends those of this process.
func Start(ctx context.Context, p Place, ca *site.CA, all []Server) (*Running, error) {
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &workshop{Place: p, Running: &Running{cancel: cancel, conns: map[net.Conn]bool{}}, ca: ca, ctx: life}
	for _, s := range all {
		if err := s.start(w, s); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", s.Host, err), w.Close())
		}
	}
	if err := errors.Join(w.startNginx(), w.startCaddy(), w.await(ctx, all)); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w.Running, nil
}

// Close ends the servers of this process and cuts their conversations.
func (r *Running) Close() error {
	r.cancel()
	r.mu.Lock()
	for _, l := range r.ends {
		l.Close()
	}
	for c := range r.conns {
		c.Close()
	}
	r.conns = nil
	r.mu.Unlock()
	r.wg.Wait()
	return nil
}

// await waits until something listens on every port.
func (w *workshop) await(ctx context.Context, all []Server) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for _, s := range all {
		for _, a := range s.Addresses {
			at := net.JoinHostPort(a.String(), strconv.Itoa(s.Port))
			for {
				c, err := w.Dial(ctx, "tcp", at)
				if err == nil {
					c.Close()
					break
				}
				select {
				case <-time.After(20 * time.Millisecond):
				case <-ctx.Done():
					return fmt.Errorf("%s does not listen: %w", s.Host, err)
				}
			}
		}
	}
	return nil
}

// serve has every connection to the address in a conversation of its own.
func (w *workshop) serve(at string, talk func(context.Context, net.Conn)) error {
	l, err := w.Listen("tcp", at)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.ends = append(w.ends, l)
	w.mu.Unlock()
	w.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.wg.Go(func() {
				if w.hold(c) {
					defer w.release(c)
					_ = c.SetDeadline(time.Now().Add(idle))
					talk(w.ctx, c)
				}
			})
		}
	})
	return nil
}

// idle is how long a conversation waits for a client that says nothing.
const idle = 30 * time.Second

func (r *Running) hold(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conns == nil {
		c.Close()
		return false
	}
	r.conns[c] = true
	return true
}

func (r *Running) release(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
	c.Close()
}

// at is where the server listens, by the number of its address.
func (s Server) at(n int) string {
	return net.JoinHostPort(s.Addresses[n].String(), strconv.Itoa(s.Port))
}
