package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"time"

	"diagnostics/daemon"
	"diagnostics/daemon/files"
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/httpapi"
	"diagnostics/gateway/internal/metrics"
	"diagnostics/gateway/internal/remote"
	"diagnostics/gateway/internal/remote/places"
	"diagnostics/gateway/web"
)

// newPlaces makes the set of places where this instance is one, and reads the file that lists the others.
func (s *service) newPlaces(c config.Config, log *slog.Logger) error {
	if c.PlaceID == "" {
		if c.PeerListenAddr != "" {
			log.Warn("PEER_LISTEN_ADDR is set, but PLACE_ID is not: other places cannot use the results of this one",
				slog.String("listen", string(c.PeerListenAddr)))
		}
		return nil
	}
	key, err := s.newHashKey(c, log)
	if err != nil {
		return err
	}
	observer := metrics.NewPlaces(s.metrics.Registerer(), func() map[string]bool { return s.places.States() })
	s.places = places.New(places.Config{
		Here:        places.Place{ID: string(c.PlaceID), Name: string(c.PlaceName)},
		Key:         key.get,
		Translation: s.egress.TranslationPrefixes,
		OwnFault:    s.egress.OwnFault,
		Observer:    observer,
		Log:         log,
		Every:       time.Second,
	})
	s.opened = append(s.opened, s.places.Close)
	if c.PlacesFile == "" {
		return nil
	}
	own := string(c.PlaceID)
	named := func(content []byte) ([]string, error) {
		entries, err := config.ParsePlaces(content, own)
		var paths []string
		for _, e := range entries {
			paths = append(paths, e.Files()...)
		}
		return paths, err
	}
	take := func(contents [][]byte) error {
		entries, err := readPlaces(own, contents)
		if err != nil {
			return err
		}
		for _, e := range entries {
			observer.Follow(e.ID)
		}
		return s.places.Replace(entries)
	}
	of := files.Source{Name: "places", Setting: "PLACES_FILE"}
	if err := s.files.LoadTree(of, named, take, string(c.PlacesFile)); err != nil {
		return fmt.Errorf("%s, or a file that it names, cannot be used: %w", of.Setting, err)
	}
	return nil
}

// readPlaces makes entries of the contents of PLACES_FILE and of the files that it names. The error is a files.Reason.
func readPlaces(own string, contents [][]byte) ([]places.Entry, error) {
	list, err := config.ParsePlaces(contents[0], own)
	if err != nil {
		return nil, err
	}
	rest := contents[1:]
	all := make([]places.Entry, 0, len(list))
	shared := pools{}
	for i, e := range list {
		n := len(e.Files())
		entry, err := newEntry(e, rest[:n], shared)
		if err != nil {
			return nil, config.EntryReason(i, err.Error())
		}
		rest = rest[n:]
		all = append(all, entry)
	}
	return all, nil
}

// newEntry makes an entry; contents are those of its files.
func newEntry(e config.PlaceEntry, contents [][]byte, shared pools) (places.Entry, error) {
	entry := places.Entry{Place: places.Place{ID: e.ID, Name: e.Name}, Version: versionOf(e, contents)}
	var err error
	if entry.URL, err = remote.ParseBase("the place", e.URL); err != nil {
		return entry, err
	}
	text, err := settings.FileValue(contents[0])
	if err != nil {
		return entry, files.Reason("its tokenFile holds no token")
	}
	tokens, err := config.ParsePeerToken(text)
	if err != nil {
		return entry, files.Reason("its tokenFile does not hold a token of at least 16 printable ASCII characters")
	}
	entry.Token = tokens[0]
	entry.TLS, err = clientTLS(e, contents[1:], shared)
	return entry, err
}

// clientTLS is for connections to a place: its name is verified by the authorities of the entry alone, or else by the
// roots of ssl-checker.
func clientTLS(e config.PlaceEntry, contents [][]byte, shared pools) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: egress.HostChecker().Roots}
	if e.CAFile != "" {
		pool, err := shared.of(contents[0])
		if err != nil {
			return nil, fmt.Errorf("its caFile: %w", err)
		}
		c.RootCAs, contents = pool, contents[1:]
	}
	if e.ClientCertFile != "" {
		pair, err := files.KeyPair(contents[0], contents[1])
		if err != nil {
			return nil, fmt.Errorf("its clientCertFile with clientKeyFile: %w", err)
		}
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair, nil }
	}
	return c, nil
}

// pools are the authorities of the files of a list, by their contents: usually all entries name one file.
type pools map[string]*x509.CertPool

func (p pools) of(content []byte) (*x509.CertPool, error) {
	if known := p[string(content)]; known != nil {
		return known, nil
	}
	pool, err := files.Roots(content)
	if err == nil {
		p[string(content)] = pool
	}
	return pool, err
}

// versionOf differs where an entry or one of its files does.
func versionOf(e config.PlaceEntry, contents [][]byte) string {
	return hex.EncodeToString(digestOf(fmt.Sprintf("%+v", e), contents))
}

// newPeers reads the tokens of the places that may run tools here; nil without a listener for them.
func (s *service) newPeers(c config.Config, env []string) (*httpapi.Peers, error) {
	if c.PeerListenAddr == "" {
		return nil, nil
	}
	peers := httpapi.NewPeers(map[string][]string{httpapi.AnyPeer: c.PeerTokens()})
	if c.PeerTokensFile != "" {
		take := func(contents [][]byte) error {
			tokens, err := config.ParsePeerTokens(contents[0])
			if err == nil {
				peers.SetTokens(tokens)
			}
			return err
		}
		of := files.Source{Name: "peer_tokens", Setting: "PEER_TOKENS_FILE"}
		if err := s.files.Load(of, take, string(c.PeerTokensFile)); err != nil {
			return nil, fmt.Errorf("%s cannot be used: %w", of.Setting, err)
		}
		return peers, nil
	}
	if path := settings.FileOf(env, "PEER_TOKEN"); path != "" {
		s.files.Watch(files.Source{Name: "peer_token", Setting: "PEER_TOKEN_FILE"}, func(contents [][]byte) error {
			value, err := settings.FileValue(contents[0])
			if err != nil {
				return err
			}
			tokens, err := config.ParsePeerToken(value)
			if err == nil {
				peers.SetTokens(map[string][]string{httpapi.AnyPeer: tokens})
			}
			return err
		}, path)
	}
	return peers, nil
}

// newPeerTLS reads the certificate of the listener for other places; nil where it speaks clear text, on loopback.
func (s *service) newPeerTLS(c config.Config) (err error) {
	if c.PeerListenAddr == "" || c.PeerTLSCertFile == "" {
		return nil
	}
	s.peerTLS, err = files.LoadServer(s.files, files.ServerFiles{
		Name: "peer", Setting: "PEER_TLS", Auth: tls.RequireAndVerifyClientCert,
		Cert: string(c.PeerTLSCertFile), Key: string(c.PeerTLSKeyFile), ClientCA: string(c.PeerTLSClientCAFile),
	})
	if err == nil {
		s.metrics.PeerCertificate(s.peerTLS.Expiry)
	}
	return err
}

// listenForPeers opens the listener for other places; nil where there is none.
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

// ownPlace reports whether a DenyKey is the host of another place, which visitors do not reach through this service.
func (s *service) ownPlace(c config.Config) func(string) bool {
	if s.places == nil || bool(c.AllowOwnAddresses) {
		return nil
	}
	return s.places.HasHost
}

// placesOfPages are the places that the pages offer.
func (s *service) placesOfPages() (all web.Places) {
	if s.places == nil {
		return all
	}
	all.Here = web.Place(s.places.Here())
	for _, p := range s.places.Others() {
		all.Others = append(all.Others, web.Place(p))
	}
	return all
}
