package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"diagnostics/daemon/files"
	"diagnostics/daemon/settings"
)

// minPeerToken is the least length of a bearer token between places.
const minPeerToken = 16

var placeIDForm = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// reservedPlaces are choices of the pages.
var reservedPlaces = []string{"all", "here"}

func isPlaceID(s string) bool {
	return placeIDForm.MatchString(s) && !slices.Contains(reservedPlaces, s)
}

type placeID string

func (p *placeID) Decode(s string) error {
	if !isPlaceID(s) {
		return settings.ErrMalformed
	}
	*p = placeID(s)
	return nil
}

const longestPlaceName = 64

func isPlaceName(s string) bool {
	return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= longestPlaceName &&
		strings.TrimSpace(s) == s && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

type placeName string

func (p *placeName) Decode(s string) error {
	if !isPlaceName(s) {
		return settings.ErrMalformed
	}
	*p = placeName(s)
	return nil
}

// peerTokens are the accepted bearer tokens: one, or two while one replaces the other.
type peerTokens []settings.Secret

func (t *peerTokens) Decode(s string) (err error) {
	*t, err = settings.ParseTokens(s, minPeerToken)
	return err
}

// ParsePeerToken reads the value of PEER_TOKEN.
func ParsePeerToken(s string) ([]string, error) {
	all, err := settings.ParseTokens(s, minPeerToken)
	return reveal(all), err
}

func reveal(all []settings.Secret) (tokens []string) {
	for _, t := range all {
		tokens = append(tokens, t.Reveal())
	}
	return tokens
}

// PeerTokens are the tokens of PEER_TOKEN.
func (c *Config) PeerTokens() []string { return reveal(c.PeerToken) }

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
	case c.PeerTLSCertFile == "" && !isLoopback(listenHost(c.PeerListenAddr)):
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

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}

// PlaceEntry is one entry of PLACES_FILE.
type PlaceEntry struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	URL            string `json:"url"`
	TokenFile      string `json:"tokenFile"`
	CAFile         string `json:"caFile"`
	ClientCertFile string `json:"clientCertFile"`
	ClientKeyFile  string `json:"clientKeyFile"`
}

// Files are the paths of the entry, empty ones left out.
func (e PlaceEntry) Files() []string {
	all := []string{e.TokenFile, e.CAFile, e.ClientCertFile, e.ClientKeyFile}
	return slices.DeleteFunc(all, func(path string) bool { return path == "" })
}

// ParsePlaces reads PLACES_FILE at the place with the ID own. The error is a files.Reason, and holds nothing of the
// file but the position of an entry.
func ParsePlaces(text []byte, own string) ([]PlaceEntry, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var entries []PlaceEntry
	if err := d.Decode(&entries); err != nil || entries == nil || d.More() {
		return nil, files.Reason("it is no JSON list of objects with id, name, url, tokenFile, and where needed caFile, " +
			"clientCertFile and clientKeyFile")
	}
	seen := map[string]bool{own: true}
	for i, e := range entries {
		problem := e.problem()
		switch {
		case problem != "":
		case e.ID == own:
			problem = "its id is the PLACE_ID of this place itself"
		case seen[e.ID]:
			problem = "its id stands twice"
		}
		if problem != "" {
			return nil, EntryReason(i, problem)
		}
		seen[e.ID] = true
	}
	return entries, nil
}

// EntryReason says what is wrong with an entry of PLACES_FILE, counted from 0.
func EntryReason(i int, problem string) files.Reason {
	return files.Reason(fmt.Sprintf("entry %d: %s", i+1, problem))
}

func (e PlaceEntry) problem() string {
	u, err := url.Parse(e.URL)
	_, malformed := baseURL(e.URL, "http", "https")
	switch {
	case !isPlaceID(e.ID):
		return "its id is not 1 to 32 of a-z, 0-9 and -, or is all or here"
	case !isPlaceName(e.Name):
		return "its name is not 1 to 64 printable characters"
	case err != nil || malformed != nil:
		return "its url is no http or https URL without user, query or fragment"
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return "its url is http outside loopback, where the token and the targets need https"
	case e.TokenFile == "":
		return "its tokenFile is missing"
	case (e.ClientCertFile == "") != (e.ClientKeyFile == ""):
		return "it has one of clientCertFile and clientKeyFile without the other"
	}
	return ""
}

// ParsePeerTokens reads PEER_TOKENS_FILE: tokens by the ID of their place. The error is a files.Reason.
func ParsePeerTokens(text []byte) (map[string][]string, error) {
	var all map[string][]string
	if json.Unmarshal(text, &all) != nil || all == nil {
		return nil, files.Reason("it is no JSON object of lists of tokens by ID of a place")
	}
	owner := make(map[string]string)
	for id, tokens := range all {
		if !isPlaceID(id) {
			return nil, files.Reason("a key is no ID of a place")
		}
		if len(tokens) == 0 || len(tokens) > 2 {
			return nil, files.Reason("a place has no token, or more than two")
		}
		for _, t := range tokens {
			if len(t) < minPeerToken || !settings.IsPrintable(t) {
				return nil, files.Reason("a token is not at least 16 printable ASCII characters without spaces")
			}
			if other, taken := owner[t]; taken && other != id {
				return nil, files.Reason("two places have the same token")
			}
			owner[t] = id
		}
	}
	return all, nil
}
