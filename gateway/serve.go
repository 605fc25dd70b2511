package main

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"diagnostics/daemon"
	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/httpapi"
)

// serve listens until ctx ends, then leaves in an orderly way.
func serve(ctx context.Context, c config.Config, s *service, log *slog.Logger) error {
	s.learnNetwork(ctx, c, log)
	listeners, err := daemon.Listen(ctx, "GATEWAY_LISTEN_ADDR", c.ListenAddr, c.MetricsListenAddr)
	if err != nil {
		return err
	}
	defer listeners.Close()
	peers, err := s.listenForPeers(ctx, c)
	if err != nil {
		return err
	}
	hangups, stop := daemon.Hangups()
	defer stop()
	logStart(ctx, c, s, listeners, peers, log)
	return c.Serve(ctx, listeners, daemon.Service{
		Server:   s.edge.HTTPServer(),
		Listener: s.edge.Listener,
		Peers:    peers,
		Metrics:  s.metrics.Handler(),
		Debug:    map[string]http.Handler{"/debug/failures": s.edge.Failures()},
		Drain:    s.edge.Drain,
		Leaving:  httpapi.ErrLeaving,
		Files:    s.files,
		Hangups:  hangups,
	}, log)
}

// listenForPeers opens the listener for other places; nil if there is none.
func (s *service) listenForPeers(ctx context.Context, c config.Config) (*daemon.Peers, error) {
	if c.PeerListenAddr == "" {
		return nil, nil
	}
	l, err := daemon.ListenOn(ctx, "PEER_LISTEN_ADDR", c.PeerListenAddr)
	if err != nil {
		return nil, err
	}
	peers := &daemon.Peers{Server: s.edge.PeerServer(), Listener: l, Wrap: s.edge.PeerListener}
	if s.peerTLS != nil {
		peers.Server.Handler = s.peerTLS.Guard(peers.Server.Handler)
		peers.Wrap = func(l net.Listener) net.Listener { return s.peerTLS.Listen(s.edge.PeerListener(l)) }
	}
	return peers, nil
}

func peerAddr(p *daemon.Peers) string {
	if p == nil {
		return "off"
	}
	return p.Listener.Addr().String()
}

// lookupWait is how long the start waits for the resolvers' first answers.
const lookupWait = 2 * time.Second

// learnNetwork begins to follow the network's NAT64 prefixes, if NAT64_PREFIXES has auto, and the addresses of
// PUBLIC_DOMAIN. It returns after the first lookups, or lookupWait.
func (s *service) learnNetwork(ctx context.Context, c config.Config, log *slog.Logger) {
	var first []<-chan struct{}
	if c.NAT64.Auto {
		first = append(first, s.egress.WatchTranslation(log))
	}
	if c.PublicDomain != "" && !bool(c.AllowOwnAddresses) {
		first = append(first, s.egress.WatchOwnName(string(c.PublicDomain), log))
	}
	ctx, cancel := context.WithTimeout(ctx, lookupWait)
	defer cancel()
	for _, looked := range first {
		select {
		case <-looked:
		case <-ctx.Done():
		}
	}
}

// logStart logs the one line that describes this instance.
func logStart(
	ctx context.Context, c config.Config, s *service, l *daemon.Listeners, peers *daemon.Peers, log *slog.Logger,
) {
	families := s.egress.Families()
	trust := "none"
	if c.TrustsHeaders() {
		trust = "any peer"
		if len(c.TrustedCIDRs) > 0 {
			trust = "peers in TRUSTED_PROXY_CIDRS"
		}
	}
	log.LogAttrs(ctx, slog.LevelInfo, "gateway started",
		slog.String("version", daemon.Version()),
		slog.String("commit", daemon.Commit()),
		slog.String("listen", l.Public()),
		slog.String("metrics", l.Metrics()),
		slog.Bool("ipv4", families.V4),
		slog.Bool("ipv6", families.V6),
		slog.String("redis", cmp.Or(c.RedisURL.Addresses(), "off")),
		slog.String("worker", workerAddress(c)),
		slog.String("place", cmp.Or(string(c.PlaceID), "none")),
		slog.String("peers", peerAddr(peers)),
		slog.String("proxyHeaders", trust),
		slog.String("clientAddress", c.ClientAddress()),
		slog.String("auditLog", onOff(s.audit != nil)),
	)
}

func workerAddress(c config.Config) string {
	if !c.WorkerEnabled() {
		return "off"
	}
	return c.WorkerURL.Addresses()
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
