package config

import (
	"errors"
	"net"

	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/remote/places"
)

type placeID string

func (p *placeID) Decode(s string) error {
	if !places.IsID(s) {
		return settings.ErrMalformed
	}
	*p = placeID(s)
	return nil
}

type placeName string

func (p *placeName) Decode(s string) error {
	if !places.IsName(s) {
		return settings.ErrMalformed
	}
	*p = placeName(s)
	return nil
}

// peerTokens are the accepted bearer tokens: one, or two while one replaces the other.
type peerTokens []settings.Secret

func (t *peerTokens) Decode(s string) (err error) {
	*t, err = settings.ParseTokens(s, places.MinToken)
	return err
}

// PeerTokens returns the tokens of PEER_TOKEN.
func (c *Config) PeerTokens() (tokens []string) {
	for _, t := range c.PeerToken {
		tokens = append(tokens, t.Reveal())
	}
	return tokens
}

func (c *Config) checkPlaces() error {
	if c.PlaceName == "" {
		c.PlaceName = placeName(c.PlaceID)
	}
	if err := settings.Pair("PEER_TLS_CERT_FILE", c.PeerTLSCertFile != "",
		"PEER_TLS_KEY_FILE", c.PeerTLSKeyFile != ""); err != nil {
		return err
	}
	switch {
	case c.PlacesFile != "" && c.PlaceID == "":
		return errors.New("PLACES_FILE is set without PLACE_ID: this place needs an ID, too")
	case c.PeerTLSClientCAFile != "" && c.PeerTLSCertFile == "":
		return errors.New("PEER_TLS_CLIENT_CA_FILE is set without PEER_TLS_CERT_FILE and PEER_TLS_KEY_FILE: client " +
			"certificates need TLS")
	case c.PeerListenAddr == "":
		return nil
	case c.PeerTLSCertFile == "" && !places.IsLoopback(listenHost(c.PeerListenAddr)):
		return errors.New("PEER_LISTEN_ADDR is no loopback address, which needs PEER_TLS_CERT_FILE and PEER_TLS_KEY_FILE: " +
			"the tokens and targets of other places would cross the network in clear text")
	case len(c.PeerToken) == 0 && c.PeerTokensFile == "":
		return errors.New("PEER_LISTEN_ADDR is set without PEER_TOKEN or PEER_TOKENS_FILE: other places need a token of at " +
			"least 16 characters")
	}
	return nil
}

func listenHost(addr settings.ListenAddr) string {
	host, _, _ := net.SplitHostPort(string(addr))
	return host
}
