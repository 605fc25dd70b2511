package tlsreference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"diagnostics/lab/internal/tlsserver"
)

// finding is one entry of what testssl.sh writes.
type finding struct{ ID, Finding string }

// Testssl probes with testssl.sh, which writes its findings to the file.
func (c Client) Testssl(ctx context.Context, s tlsserver.Server, address, file string) (Seen, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return Seen{}, err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Seen{}, err
	}
	args := []string{"--quiet", "--color", "0", "--warnings", "off", "--nodns", "none", "--ip", host, "--add-ca", c.Roots,
		"--openssl-timeout", "5", "--jsonfile", file, "-p", "-S"}
	if !s.Truth.VersionsOnly && !s.Truth.Alike {
		args = append(args, "-E", "-P", "-f")
	}
	if strings.Contains(host, ":") {
		args = append(args, "-6")
	}
	if starttls := map[int]string{25: "smtp", 110: "pop3", 143: "imap"}[s.Port]; starttls != "" {
		args = append(args, "--starttls", starttls)
	}
	// Its status counts findings.
	_, _ = c.Run(ctx, "testssl", append(args, net.JoinHostPort(s.Host, port))...)
	text, err := os.ReadFile(file)
	if err != nil {
		return Seen{}, err
	}
	var found []finding
	if err := json.Unmarshal(text, &found); err != nil {
		return Seen{}, fmt.Errorf("testssl.sh's findings: %w", err)
	}
	return readTestssl(found, s.Truth)
}

// testsslProtocols are the protocols in testssl.sh's words.
var testsslProtocols = map[string]string{
	"SSLv3": "SSLv3", "TLS1": "TLSv1.0", "TLS1_1": "TLSv1.1", "TLS1_2": "TLSv1.2", "TLS1_3": "TLSv1.3",
}

// testsslGroups are the groups that testssl.sh names as OpenSSL does.
var testsslGroups = map[string]string{"prime256v1": "secp256r1", "X25519": "x25519", "X448": "x448"}

func readTestssl(found []finding, t tlsserver.Truth) (Seen, error) {
	seen := Seen{Suites: map[string][]string{}, Loose: true, Untold: []string{"client"}}
	if t.Alike {
		seen.Untold = append(seen.Untold, "suites", "groups", "DH")
	}
	names, err := known()
	if err != nil {
		return seen, err
	}
	by := map[string]string{}
	for _, f := range found {
		// Of a server with several certificates each finding is reported for each.
		if id, _, _ := strings.Cut(f.ID, " "); by[id] == "" {
			by[id] = f.Finding
		}
	}
	for id, protocol := range testsslProtocols {
		if strings.HasPrefix(by[id], "offered") {
			seen.Suites[protocol] = []string{}
		}
	}
	for _, f := range found {
		words := strings.Fields(f.Finding)
		if rest, ok := strings.CutPrefix(f.ID, "cipher-"); ok && len(words) > 0 {
			version, _, _ := strings.Cut(rest, "_x")
			protocol := testsslProtocols[strings.NewReplacer("tls", "TLS", "ssl", "SSLv").Replace(version)]
			if protocol == "" {
				protocol = map[string]string{"ssl3": "SSLv3"}[version]
			}
			seen.Suites[protocol] = append(seen.Suites[protocol], words[len(words)-1])
			if i := slices.Index(words, "DH"); i >= 0 {
				bits, err := strconv.Atoi(words[i+1])
				if err == nil && (seen.DHBits == 0 || bits < seen.DHBits) {
					seen.DHBits = bits
				}
			}
		}
	}
	ordered(by, names, seen.Suites)
	for _, group := range strings.Fields(by["PFS_ECDHE_curves"]) {
		if iana, ok := testsslGroups[group]; ok {
			group = iana
		}
		seen.Groups = append(seen.Groups, group)
	}
	seen.judge(by, t)
	return seen, nil
}

// ordered puts the suites into the server's order, where testssl.sh says that it has one.
func ordered(by, names map[string]string, suites map[string][]string) {
	for protocol, list := range suites {
		id := "cipherorder_" + strings.NewReplacer("TLSv1.0", "TLSv1", ".", "_").Replace(protocol)
		place := map[string]int{}
		for i, name := range strings.Fields(by[id]) {
			place[name] = i
		}
		if strings.HasPrefix(by["cipher_order"], "server") {
			slices.SortStableFunc(list, func(a, b string) int {
				at := func(iana string) int {
					if i, ok := place[iana]; ok {
						return i
					}
					return place[names[iana]]
				}
				return at(a) - at(b)
			})
		}
	}
}

// judge reads what testssl.sh says of the certificates. It reports how many there are, and the name of the first.
func (s *Seen) judge(by map[string]string, t tlsserver.Truth) {
	name := by["cert_commonName"]
	if count := by["certs_countServer"]; name != "" {
		s.Sent = []string{name, count + " in all"}
		if len(t.Sent) > 0 && name == t.Sent[0] && count == strconv.Itoa(len(t.Sent)) {
			s.Sent = t.Sent
		}
	}
	trust := by["cert_chain_of_trust"]
	switch {
	case strings.HasPrefix(by["cert_expirationStatus"], "expired"):
		s.Error = "CERT_HAS_EXPIRED"
	case strings.Contains(trust, "self signed CA in chain"):
		s.Error = "SELF_SIGNED_CERT_IN_CHAIN"
	case strings.Contains(trust, "self signed"):
		s.Error = "DEPTH_ZERO_SELF_SIGNED_CERT"
	case strings.Contains(trust, "chain incomplete"):
		s.Error = "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
	case strings.Contains(trust, "unsupported certificate purpose"):
		s.Error = "INVALID_PURPOSE"
	case strings.HasPrefix(trust, "failed"):
		s.Error = trust
	case strings.Contains(by["cert_trust"], "does not match"):
		s.Error = "ERR_TLS_CERT_ALTNAME_INVALID"
	}
	if strings.HasPrefix(by["OCSP_stapling"], "offered") {
		s.Staple = "good"
	}
	switch other := by["cert_commonName_wo_SNI"]; {
	case name == "" || other == name || other == "":
	case strings.Contains(other, "didn't succeed"):
		// Refused, or none of the suites that OpenSSL offers by itself.
		s.Untold = append(s.Untold, "nameless")
	default:
		s.Nameless = other
	}
}
