package places

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"diagnostics/daemon/files"
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/remote"
)

// MinToken is the least length of a bearer token between places, in bytes.
const MinToken = 16

const maxNameRunes = 64

var idForm = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// IsID reports whether s can be the ID of a place. all and here are choices of the pages.
func IsID(s string) bool { return idForm.MatchString(s) && s != "all" && s != "here" }

// IsName reports whether s can be the name of a place: 1 to 64 printable characters.
func IsName(s string) bool {
	return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxNameRunes &&
		strings.TrimSpace(s) == s && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// ParseToken reads the value of PEER_TOKEN, or of a tokenFile: one token, or two with a comma between.
func ParseToken(s string) (tokens []string, err error) {
	all, err := settings.ParseTokens(s, MinToken)
	for _, t := range all {
		tokens = append(tokens, t.Reveal())
	}
	return tokens, err
}

// ParseTokens reads PEER_TOKENS_FILE: tokens by the ID of their place. The error is a files.Reason.
func ParseTokens(text []byte) (map[string][]string, error) {
	var all map[string][]string
	if json.Unmarshal(text, &all) != nil || all == nil {
		return nil, files.Reason("it is no JSON object of lists of tokens by ID of a place")
	}
	owner := make(map[string]string)
	for id, tokens := range all {
		if !IsID(id) {
			return nil, files.Reason("a key is no ID of a place")
		}
		if len(tokens) == 0 || len(tokens) > 2 {
			return nil, files.Reason("a place has no token, or more than two")
		}
		for _, t := range tokens {
			if len(t) < MinToken || !settings.IsPrintable(t) {
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

// fileEntry is one entry of PLACES_FILE.
type fileEntry struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	URL            string `json:"url"`
	TokenFile      string `json:"tokenFile"`
	CAFile         string `json:"caFile"`
	ClientCertFile string `json:"clientCertFile"`
	ClientKeyFile  string `json:"clientKeyFile"`
}

// files returns the paths that the entry names.
func (e fileEntry) files() []string {
	all := []string{e.TokenFile, e.CAFile, e.ClientCertFile, e.ClientKeyFile}
	return slices.DeleteFunc(all, func(path string) bool { return path == "" })
}

// Follow reads the places of a PLACES_FILE and lets the watcher reread them. A place whose entry has no caFile is
// verified by roots. found is called with the ID of each place. An error names the setting, and repeats nothing of the
// file but the position of an entry.
func (s *Set) Follow(watcher *files.Watcher, path string, roots *x509.CertPool, found func(id string)) error {
	own := s.config.Here.ID
	named := func(content []byte) (paths []string, err error) {
		entries, err := parseFile(content, own)
		for _, e := range entries {
			paths = append(paths, e.files()...)
		}
		return paths, err
	}
	load := func(contents [][]byte) error {
		entries, err := readFiles(own, contents, roots)
		if err != nil {
			return err
		}
		for _, e := range entries {
			found(e.ID)
		}
		return s.Replace(entries)
	}
	of := files.Source{Name: "places", Setting: "PLACES_FILE"}
	if err := watcher.LoadTree(of, named, load, path); err != nil {
		return fmt.Errorf("%s, or a file that it names, cannot be used: %w", of.Setting, err)
	}
	return nil
}

// readFiles returns the entries of a PLACES_FILE: contents[0] is the file, followed by the contents of the files that
// it names. The error is a files.Reason.
func readFiles(own string, contents [][]byte, roots *x509.CertPool) ([]Entry, error) {
	list, err := parseFile(contents[0], own)
	if err != nil {
		return nil, err
	}
	rest := contents[1:]
	all := make([]Entry, 0, len(list))
	known := pools{}
	for i, e := range list {
		n := len(e.files())
		entry, err := e.read(rest[:n], roots, known)
		if err != nil {
			return nil, entryReason(i, err.Error())
		}
		rest = rest[n:]
		all = append(all, entry)
	}
	return all, nil
}

// parseFile reads a PLACES_FILE at the place with the ID own. The error is a files.Reason.
func parseFile(text []byte, own string) ([]fileEntry, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var entries []fileEntry
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
			return nil, entryReason(i, problem)
		}
		seen[e.ID] = true
	}
	return entries, nil
}

// entryReason says what is wrong with an entry of PLACES_FILE, counted from 0.
func entryReason(i int, problem string) files.Reason {
	return files.Reason(fmt.Sprintf("entry %d: %s", i+1, problem))
}

func (e fileEntry) problem() string {
	u, err := remote.ParseBase("the place", e.URL)
	switch {
	case !IsID(e.ID):
		return "its id is not 1 to 32 of a-z, 0-9 and -, or is all or here"
	case !IsName(e.Name):
		return "its name is not 1 to 64 printable characters"
	case err != nil || strings.Contains(e.URL, "#"):
		return "its url is no http or https URL without user, query or fragment"
	case u.Scheme == "http" && !IsLoopback(u.Hostname()):
		return "its url is http outside loopback, where the token and the targets need https"
	case e.TokenFile == "":
		return "its tokenFile is missing"
	case (e.ClientCertFile == "") != (e.ClientKeyFile == ""):
		return "it has one of clientCertFile and clientKeyFile without the other"
	}
	return ""
}

// IsLoopback reports whether a host is this one, so that clear text to it crosses no network.
func IsLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}

// read makes an Entry of the contents of the entry's files.
func (e fileEntry) read(contents [][]byte, roots *x509.CertPool, known pools) (Entry, error) {
	entry := Entry{Place: Place{ID: e.ID, Name: e.Name}, Version: e.version(contents)}
	var err error
	if entry.URL, err = remote.ParseBase("the place", e.URL); err != nil {
		return entry, err
	}
	text, err := settings.FileValue(contents[0])
	if err != nil {
		return entry, files.Reason("its tokenFile holds no token")
	}
	tokens, err := ParseToken(text)
	if err != nil {
		return entry, files.Reason("its tokenFile does not hold a token of at least 16 printable ASCII characters")
	}
	entry.Token = tokens[0]
	entry.TLS, err = e.clientTLS(contents[1:], roots, known)
	return entry, err
}

// clientTLS returns the configuration of connections to the place. Its certificate is verified by the authorities of
// caFile only, or by roots if the entry has none.
func (e fileEntry) clientTLS(contents [][]byte, roots *x509.CertPool, known pools) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots}
	if e.CAFile != "" {
		pool, err := known.of(contents[0])
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

// pools holds the authorities of a list by the contents of their files: most lists name one file in every entry.
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

// version returns a text that differs if the entry or one of its files does.
func (e fileEntry) version(contents [][]byte) string {
	h := sha256.New()
	for _, part := range append([][]byte{fmt.Appendf(nil, "%+v", e)}, contents...) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
