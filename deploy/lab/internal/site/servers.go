package site

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
)

// Listen opens a listening socket where the sites' addresses are.
type Listen func(network, address string) (net.Listener, error)

// endpoint is one port of a site: an HTTP handler or a raw conversation, under TLS where it has a configuration.
type endpoint struct {
	port int
	http http.Handler
	raw  func(context.Context, net.Conn)
	tls  *tlsSetup
	// startTLS leaves the start of TLS to the conversation.
	startTLS bool
}

type tlsSetup struct {
	certificate certificate
	min, max    uint16
	clientAuth  tls.ClientAuthType
	noHTTP2     bool
	onlyHTTP2   bool
}

// Servers are the running sites.
type Servers struct {
	ca     *CA
	listen Listen
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	closers []io.Closer
	conns   map[net.Conn]bool
	closed  bool
}

// Start serves the sites at their addresses. Close stops them.
func Start(listen Listen, ca *CA, sites []Site) (*Servers, error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Servers{ca: ca, listen: listen, ctx: ctx, cancel: cancel, conns: map[net.Conn]bool{}}
	for _, st := range sites {
		for _, e := range st.endpoints {
			if err := s.serve(st, e); err != nil {
				return nil, errors.Join(fmt.Errorf("site %s: %w", st.Host, err), s.Close())
			}
		}
	}
	return s, nil
}

// Close stops all sites and cuts their conversations.
func (s *Servers) Close() error {
	s.cancel()
	s.mu.Lock()
	s.closed = true
	for _, c := range s.closers {
		c.Close()
	}
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
	return nil
}

func (s *Servers) serve(st Site, e endpoint) error {
	config, err := s.config(st.Host, e.tls)
	if err != nil {
		return err
	}
	for _, address := range []netip.Addr{st.V4, st.V6} {
		if !address.IsValid() {
			continue
		}
		l, err := s.listen("tcp", net.JoinHostPort(address.String(), strconv.Itoa(e.port)))
		if err != nil {
			return err
		}
		if e.http != nil {
			s.serveHTTP(l, e.http, config)
			continue
		}
		s.serveRaw(l, e, config)
	}
	return nil
}

func (s *Servers) config(host string, t *tlsSetup) (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	cert, err := s.ca.issue(host, t.certificate)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: t.min, MaxVersion: t.max, ClientAuth: t.clientAuth}
	switch {
	case t.noHTTP2:
		c.NextProtos = []string{"http/1.1"}
	case t.onlyHTTP2:
		c.NextProtos = []string{"h2"}
	}
	return c, nil
}

func (s *Servers) serveHTTP(l net.Listener, h http.Handler, config *tls.Config) {
	server := &http.Server{
		Handler:     h,
		TLSConfig:   config.Clone(), // each server adds its own protocols
		ErrorLog:    log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return s.ctx },
	}
	if config != nil && config.NextProtos != nil {
		server.Protocols = new(http.Protocols)
		server.Protocols.SetHTTP1(true)
	}
	s.keep(server)
	s.wg.Go(func() {
		if config != nil {
			_ = server.ServeTLS(l, "", "")
			return
		}
		_ = server.Serve(l)
	})
}

func (s *Servers) serveRaw(l net.Listener, e endpoint, config *tls.Config) {
	ctx, talk := s.ctx, e.raw
	switch {
	case e.startTLS:
		ctx = context.WithValue(ctx, startTLSKey{}, config)
	case config != nil:
		talk = func(ctx context.Context, c net.Conn) { e.raw(ctx, tls.Server(c, config)) }
	}
	s.keep(l)
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if !s.hold(c) {
				return
			}
			s.wg.Go(func() {
				defer s.release(c)
				talk(ctx, c)
			})
		}
	})
}

func (s *Servers) keep(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closers = append(s.closers, c)
}

func (s *Servers) hold(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return false
	}
	s.conns[c] = true
	return true
}

func (s *Servers) release(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	c.Close()
}
