package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"diagnostics/daemon/files"
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/clientip"
	"diagnostics/gateway/internal/conns"
	"diagnostics/gateway/internal/remote/places"

	"github.com/labstack/echo/v4"
)

// from is by which listener a request came.
type from string

const (
	fromClient from = "client"
	fromPeer   from = "peer" // another place
)

// MaxPeerBodyBytes bounds the body of a request of another place.
const MaxPeerBodyBytes = 16 << 10

func (f from) maxBody() int64 {
	if f == fromPeer {
		return MaxPeerBodyBytes
	}
	return MaxBodyBytes
}

// AnyPeer is the ID of all other places together, where they share one token.
const AnyPeer = "peer"

// Peers are the other places that may run tools here, by their tokens.
type Peers struct{ tokens atomic.Pointer[[]peerToken] }

// peerToken is a token as a digest, so that comparing takes the same time whatever is sent.
type peerToken struct {
	place  string
	digest [sha256.Size]byte
}

// NewPeers returns the places with these tokens, by ID.
func NewPeers(tokens map[string][]string) *Peers {
	p := &Peers{}
	p.SetTokens(tokens)
	return p
}

// SetTokens replaces the tokens. Requests under way go on.
func (p *Peers) SetTokens(tokens map[string][]string) {
	var all []peerToken
	for place, list := range tokens {
		for _, t := range list {
			all = append(all, peerToken{place, sha256.Sum256([]byte(t))})
		}
	}
	p.tokens.Store(&all)
}

// FollowTokens reads PEER_TOKENS_FILE and lets the watcher reread it. An error names the setting.
func (p *Peers) FollowTokens(watcher *files.Watcher, path string) error {
	load := func(contents [][]byte) error {
		tokens, err := places.ParseTokens(contents[0])
		if err == nil {
			p.SetTokens(tokens)
		}
		return err
	}
	of := files.Source{Name: "peer_tokens", Setting: "PEER_TOKENS_FILE"}
	if err := watcher.Load(of, load, path); err != nil {
		return fmt.Errorf("%s cannot be used: %w", of.Setting, err)
	}
	return nil
}

// FollowToken lets the watcher reread the PEER_TOKEN_FILE whose tokens p has.
func (p *Peers) FollowToken(watcher *files.Watcher, path string) {
	watcher.Watch(files.Source{Name: "peer_token", Setting: "PEER_TOKEN_FILE"}, func(contents [][]byte) error {
		value, err := settings.FileValue(contents[0])
		if err != nil {
			return err
		}
		tokens, err := places.ParseToken(value)
		if err == nil {
			p.SetTokens(map[string][]string{AnyPeer: tokens})
		}
		return err
	}, path)
}

// admit returns the place that the values of an Authorization header stand for, empty for none. There must be exactly
// one, "Bearer", one space and a token (RFC 6750 section 2.1); the scheme is case-insensitive (RFC 9110 section 11.1).
func (p *Peers) admit(values []string) (place string) {
	if len(values) != 1 {
		return ""
	}
	scheme, token, found := strings.Cut(values[0], " ")
	if !found || token == "" || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	given := sha256.Sum256([]byte(token))
	for _, known := range *p.tokens.Load() {
		if subtle.ConstantTimeCompare(given[:], known.digest[:]) == 1 {
			place = known.place
		}
	}
	return place
}

// peerRoutes is every route of the listener for other places. The token comes before anything else of a request.
func (s *Server) peerRoutes() *echo.Echo {
	e := echo.New()
	e.IPExtractor = echo.ExtractIPDirect()
	e.HTTPErrorHandler = s.fail
	e.Pre(s.observe(fromPeer), requireToken)
	for _, t := range s.config.Tools {
		if !t.OnlyHere() {
			run := s.runTool(t)
			s.handle(e, places.PathTools+t.Slug(), func(c echo.Context) error { return run(c, contextOf(c)) }, http.MethodPost)
		}
	}
	s.get(e, places.PathReady, s.peerReady)
	return e
}

// requireToken rejects whatever comes without a token. Nothing of its body is read, so its connection ends.
func requireToken(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if contextOf(c).client.Place == nil {
			c.Response().Header().Set(echo.HeaderWWWAuthenticate, "Bearer")
			c.Response().Header().Set("Connection", "close")
			return errToken
		}
		return next(c)
	}
}

var errToken = newProblem(http.StatusUnauthorized, outcomeToken, "TOKEN_REQUIRED")

// identify returns whose request it is. A client of another place has no pseudonym before the body is read.
func (s *Server) identify(r *http.Request, door from) clientip.Identity {
	if door == fromClient {
		return s.config.Clients.Identify(r)
	}
	id := clientip.Identity{}
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		id.Peer = ap.Addr().Unmap().WithZone("")
	}
	if s.config.Peers != nil {
		if place := s.config.Peers.admit(r.Header["Authorization"]); place != "" {
			id.Place = &clientip.PlaceClient{Place: place}
		}
	}
	return id
}

var (
	errPeerClient = badRequest("FIELD_CLIENT")
	errPeerGroup  = badRequest("FIELD_GROUP")
	errPeerBudget = badRequest("FIELD_BUDGET")
)

// takePeer reads what the body of a request of another place has beside that of a client: for whom the tool runs, and
// how long it may.
func (s *Server) takePeer(rc *requestContext, fields map[string]json.RawMessage) error {
	client := clientip.PlaceClient{Place: rc.client.OfPlace()}
	if json.Unmarshal(fields["client"], &client.Client) != nil || !isPseudonym(client.Client) {
		return errPeerClient
	}
	if raw, given := fields["group"]; given {
		if json.Unmarshal(raw, &client.Group) != nil || client.Group != "" && !isPseudonym(client.Group) {
			return errPeerGroup
		}
	}
	if raw, given := fields["budgetMs"]; given {
		var ms float64
		if json.Unmarshal(raw, &ms) != nil || !(ms > 0) {
			return errPeerBudget
		}
		rc.budget = time.Duration(min(ms, float64(s.config.RunLimit.Milliseconds())) * float64(time.Millisecond))
	}
	rc.client.Place = &client
	s.lendMemory(rc, rc.client.Holders())
	return nil
}

// runLimit is how long a run may take from now on.
func (s *Server) runLimit(rc *requestContext) time.Duration {
	if rc.budget == 0 {
		return s.config.RunLimit
	}
	return min(s.config.RunLimit, rc.budget-s.config.Now().Sub(rc.start))
}

func (s *Server) peerReady(c echo.Context) error {
	answer, status := places.Ready{Status: places.StatusReady}, http.StatusOK
	if s.config.Places != nil && s.config.Places.Here().ID != "" {
		answer.Place = new(s.config.Places.Here())
	}
	if s.draining.Load() {
		answer.Status, status = "draining", http.StatusServiceUnavailable
	}
	return c.JSON(status, answer)
}

// PeerServer is HTTPServer for the listener for other places.
func (s *Server) PeerServer() *http.Server { return newServer(s.peerEcho, s.peerConns) }

// PeerListener bounds the connections of a listener that PeerServer is to serve.
func (s *Server) PeerListener(l net.Listener) net.Listener { return s.peerConns.Listener(l) }

// newPeerConns allows one address as many connections as there are slots: another place has one for each of its runs.
func (s *Server) newPeerConns() *conns.Table {
	c := s.config
	return conns.New(conns.Limits{
		Max: c.MaxConnections, PerPeer: max(c.Bounds.PeerConnections, c.MaxInFlight),
		Shared: func(netip.Addr) bool { return false }, Stall: c.Bounds.AnswerStall, Unfinished: c.Bounds.UnfinishedBytes,
	})
}
