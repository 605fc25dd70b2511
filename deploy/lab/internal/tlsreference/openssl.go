// Package tlsreference probes what TLS servers take with programs that are not ours: openssl s_client, gnutls-cli,
// testssl.sh and sslscan, and Go's own client where those are too old.
package tlsreference

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"diagnostics/lab/internal/tlsserver"
)

// Run runs a program of the system where the servers can be reached, and gives its standard output; an error is
// whatever ended it otherwise than well.
type Run func(ctx context.Context, program string, args ...string) ([]byte, error)

// Client probes with openssl s_client.
type Client struct {
	Run Run
	// Roots is the file of the trusted root; Certificate and Key are those of a client that has one.
	Roots, Certificate, Key string
}

// Seen is what a reference says of a server, in the words of tlsserver.Truth.
type Seen struct {
	// Suites are in the order in which they were chosen, the client's order being the reverse of the truth's.
	Suites   map[string][]string
	Groups   []string
	DHBits   int
	Sent     []string
	Error    string
	Staple   string
	Requests bool
	// Nameless is the common name of the certificate for a client that sends no name, where it is another.
	Nameless string
	// Loose is that the order of suites means something only for servers that have one of their own.
	Loose bool
	// Untold are things that the reference does not report.
	Untold []string
}

// One try of a client without an answer ends after so long.
const tryTimeout = 6 * time.Second

// flags are the arguments for one protocol alone. OpenSSL has no SSL 3.0 in Debian.
var flags = map[string]string{"TLSv1.0": "-tls1", "TLSv1.1": "-tls1_1", "TLSv1.2": "-tls1_2", "TLSv1.3": "-tls1_3"}

// everyGroup are the groups of OpenSSL, by its names for them.
var everyGroup = []string{"X25519", "P-256", "X448", "P-521", "P-384", "brainpoolP256r1", "brainpoolP384r1",
	"brainpoolP512r1", "ffdhe2048", "ffdhe3072"}

// Ask probes everything of the server at one of its addresses.
func (c Client) Ask(ctx context.Context, s tlsserver.Server, address string) (Seen, error) {
	seen := Seen{Suites: map[string][]string{}}
	for _, protocol := range slices.Backward(tlsserver.Protocols) {
		if flags[protocol] == "" {
			continue
		}
		first, ok := c.try(ctx, s, address, protocol, nil, everyGroup)
		if !ok {
			continue
		}
		if len(seen.Suites) == 0 {
			seen.learn(first)
			seen.Nameless = c.nameless(ctx, s, address, protocol)
		}
		seen.Suites[protocol] = []string{}
		if s.Truth.VersionsOnly {
			continue
		}
		if err := c.suites(ctx, s, address, protocol, &seen); err != nil {
			return seen, err
		}
		if seen.Groups == nil {
			seen.Groups = c.groups(ctx, s, address, protocol, seen.Suites[protocol])
		}
	}
	return seen, nil
}

// Takes reports whether OpenSSL shakes hands with the server at all, with what it offers by itself.
func (c Client) Takes(ctx context.Context, s tlsserver.Server, address string) bool {
	_, ok := c.try(ctx, s, address, "", nil, everyGroup)
	return ok
}

// nameless probes without a name, where a certificate is shown to who sends one.
func (c Client) nameless(ctx context.Context, s tlsserver.Server, address, protocol string) string {
	if s.Port != 443 || len(s.Truth.Sent) == 0 {
		return ""
	}
	s.Host = ""
	said, ok := c.try(ctx, s, address, protocol, nil, everyGroup)
	if !ok {
		return tlsserver.Refused
	}
	if m := subject.FindStringSubmatch(said.text); m != nil && m[1] != s.Truth.Sent[0] {
		return m[1]
	}
	return ""
}

// suites lets the server choose again and again, each time without what it chose before.
func (c Client) suites(ctx context.Context, s tlsserver.Server, address, protocol string, seen *Seen) error {
	offer, err := candidates(protocol, s.Truth.Suites[protocol])
	if err != nil {
		return err
	}
	for len(offer) > 0 {
		said, ok := c.try(ctx, s, address, protocol, offer, everyGroup)
		if !ok {
			break
		}
		i := slices.Index(offer, said.suite)
		if i < 0 {
			return fmt.Errorf("%s: chose %s, which was not offered", protocol, said.suite)
		}
		offer = slices.Delete(offer, i, i+1)
		seen.Suites[protocol] = append(seen.Suites[protocol], said.suite)
		if said.dhBits > 0 && (seen.DHBits == 0 || said.dhBits < seen.DHBits) {
			seen.DHBits = said.dhBits
		}
	}
	return nil
}

// groups does the same with the groups of one protocol.
func (c Client) groups(ctx context.Context, s tlsserver.Server, address, protocol string, taken []string) []string {
	offer, groups := slices.Clone(everyGroup), []string{}
	taken = slices.DeleteFunc(slices.Clone(taken), func(name string) bool {
		return protocol != "TLSv1.3" && !strings.HasPrefix(name, "TLS_ECDH")
	})
	for len(offer) > 0 && len(taken) > 0 {
		said, ok := c.try(ctx, s, address, protocol, taken, offer)
		i := slices.Index(offer, said.group)
		if !ok || i < 0 {
			break
		}
		offer = slices.Delete(offer, i, i+1)
		groups = append(groups, ianaGroup(said.group))
	}
	return groups
}

// ianaGroup is IANA's name of a group of everyGroup.
func ianaGroup(name string) string {
	switch name {
	case "P-256", "P-384", "P-521":
		return map[string]string{"P-256": "secp256r1", "P-384": "secp384r1", "P-521": "secp521r1"}[name]
	case "X25519", "X448":
		return strings.ToLower(name)
	}
	return name
}

// said is the output of one handshake.
type said struct {
	suite, group string
	dhBits       int
	text         string
}

// try shakes hands once; suites nil offers all, no protocol is any, and a server without a name
// is sent none.
func (c Client) try(
	ctx context.Context, s tlsserver.Server, address, protocol string, suites, groups []string,
) (said, bool) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	name := []string{"-servername", s.Host, "-verify_hostname", s.Host}
	if s.Host == "" {
		name = []string{"-noservername"}
	}
	args := append([]string{"s_client", "-connect", address}, name...)
	args = append(args, "-CAfile", c.Roots, "-showcerts", "-status", "-groups", strings.Join(groups, ":"))
	if starttls := map[int]string{25: "smtp", 110: "pop3", 143: "imap"}[s.Port]; starttls != "" {
		args = append(args, "-starttls", starttls)
	}
	if s.Truth.Requests {
		args = append(args, "-cert", c.Certificate, "-key", c.Key)
	}
	if protocol != "" {
		offer, err := offered(protocol, suites)
		if err != nil {
			return said{}, false
		}
		args = append(append(args, flags[protocol]), offer...)
	}
	out, _ := c.Run(ctx, "openssl", args...)
	return read(string(out))
}

// offered are the arguments that offer some suites.
func offered(protocol string, suites []string) ([]string, error) {
	if suites == nil {
		all, err := candidates(protocol, nil)
		if err != nil {
			return nil, err
		}
		suites = all
	}
	if protocol == "TLSv1.3" {
		return []string{"-ciphersuites", strings.Join(suites, ":")}, nil
	}
	names, err := known()
	if err != nil {
		return nil, err
	}
	list := ""
	for _, name := range suites {
		list += names[name] + ":"
	}
	return []string{"-cipher", list + "@SECLEVEL=0"}, nil
}

// known are the suites of this OpenSSL: its names by IANA's.
var known = sync.OnceValues(func() (map[string]string, error) {
	out, err := exec.CommandContext(context.Background(), "openssl", "ciphers", "-stdname",
		"ALL:COMPLEMENTOFALL:@SECLEVEL=0").Output()
	if err != nil {
		return nil, fmt.Errorf("openssl ciphers: %w", err)
	}
	names := map[string]string{"TLS_AES_128_CCM_SHA256": "", "TLS_AES_128_CCM_8_SHA256": ""}
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) > 2 {
			names[words[0]] = words[2]
		}
	}
	return names, nil
})

// knownIDs are the names of those suites by number, of RC4, 3DES and exported ones too.
var knownIDs = sync.OnceValues(func() (map[uint16]string, error) {
	out, err := exec.CommandContext(context.Background(), "openssl", "ciphers", "-stdname", "-V",
		"ALL:COMPLEMENTOFALL:@SECLEVEL=0").Output()
	if err != nil {
		return nil, fmt.Errorf("openssl ciphers: %w", err)
	}
	ids := map[uint16]string{
		0x0003: "TLS_RSA_EXPORT_WITH_RC4_40_MD5", 0x0004: "TLS_RSA_WITH_RC4_128_MD5", 0x0005: "TLS_RSA_WITH_RC4_128_SHA",
		0x0006: "TLS_RSA_EXPORT_WITH_RC2_CBC_40_MD5", 0x0008: "TLS_RSA_EXPORT_WITH_DES40_CBC_SHA",
		0x0009: "TLS_RSA_WITH_DES_CBC_SHA", 0x000a: "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
		0x1304: "TLS_AES_128_CCM_SHA256", 0x1305: "TLS_AES_128_CCM_8_SHA256", 0xc011: "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
	}
	for line := range strings.Lines(string(out)) {
		var high, low uint16
		if words := strings.Fields(line); len(words) > 2 {
			if _, err := fmt.Sscanf(words[0], "0x%X,0x%X", &high, &low); err == nil {
				ids[high<<8|low] = words[2]
			}
		}
	}
	return ids, nil
})

// candidates are all suites of a protocol that OpenSSL has and that want no shared key; the ones given come first, the
// last of them before the others, so that a server's own order shows.
func candidates(protocol string, first []string) ([]string, error) {
	names, err := known()
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range slices.Backward(first) {
		if _, ok := names[name]; ok {
			all = append(all, name)
		}
	}
	var rest []string
	for name := range names {
		if is13 := !strings.Contains(name, "_WITH_"); is13 == (protocol == "TLSv1.3") &&
			!slices.Contains(first, name) && !strings.Contains(name, "PSK") && !strings.Contains(name, "SRP") {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return append(all, rest...), nil
}

var (
	cipherLine = regexp.MustCompile(`(?m)^New, \S+, Cipher is (\S+)$`)
	tempKey    = regexp.MustCompile(`(?m)^Server Temp Key: (?:ECDH, )?(\S+), (\d+) bits$`)
	subject    = regexp.MustCompile(`(?m)^ *\d+ s:.*?CN = (.+)$`)
	verified   = regexp.MustCompile(`(?m)^Verify return code: (\d+) `)
	ocspStatus = regexp.MustCompile(`(?m)^ *Cert Status: (\S+)$`)
)

// read reads what s_client prints.
func read(text string) (said, bool) {
	found := cipherLine.FindStringSubmatch(text)
	if found == nil || found[1] == "(NONE)" {
		return said{}, false
	}
	s := said{suite: found[1], text: text}
	if names, err := known(); err == nil {
		for iana, name := range names {
			if name == s.suite {
				s.suite = iana
			}
		}
	}
	if key := tempKey.FindStringSubmatch(text); key != nil {
		bits, _ := strconv.Atoi(key[2])
		s.group = map[string]string{"prime256v1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"}[key[1]]
		switch {
		case key[1] == "DH" && strings.Contains(found[0], "TLSv1.3"):
			s.group = "ffdhe" + key[2] // the only primes of TLS 1.3 (RFC 7919)
		case key[1] == "DH":
			s.dhBits = bits
		case s.group == "":
			s.group = key[1]
		}
	}
	return s, true
}

// codes are the verdicts of OpenSSL by their names in Node, which are those of the contract.
var codes = map[string]string{
	"0": "", "9": "CERT_NOT_YET_VALID", "10": "CERT_HAS_EXPIRED", "18": "DEPTH_ZERO_SELF_SIGNED_CERT",
	"19": "SELF_SIGNED_CERT_IN_CHAIN", "20": "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "21": "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
	"26": "INVALID_PURPOSE", "62": "ERR_TLS_CERT_ALTNAME_INVALID",
}

// learn reads the certificates of one handshake.
func (s *Seen) learn(first said) {
	for _, m := range subject.FindAllStringSubmatch(first.text, -1) {
		s.Sent = append(s.Sent, m[1])
	}
	if m := verified.FindStringSubmatch(first.text); m != nil && len(s.Sent) > 0 {
		s.Error = codes[m[1]]
		if s.Error == "" && m[1] != "0" {
			s.Error = m[1]
		}
	}
	if m := ocspStatus.FindStringSubmatch(first.text); m != nil {
		s.Staple = m[1]
	}
	s.Requests = strings.Contains(first.text, "\nAcceptable client certificate CA names") ||
		strings.Contains(first.text, "\nClient Certificate Types") ||
		strings.Contains(first.text, "\nRequested Signature Algorithms")
}
