package sslchecker

import (
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/text"
)

// protocolIssues are about the versions of the protocol.
func protocolIssues(r Result) []issue {
	var issues []issue
	old := taken(r.SupportedProtocols, tlsscan.TLS10, tlsscan.TLS11)
	modern := taken(r.SupportedProtocols, tlsscan.TLS12, tlsscan.TLS13)
	if ssl3 := taken(r.SupportedProtocols, tlsscan.SSL30); len(ssl3) > 0 {
		text := "The server still accepts SSL 3.0, which is broken (RFC 7568)."
		if len(old)+len(modern) == 0 {
			text = "The server supports nothing better than SSL 3.0, which is broken and which clients refuse (RFC 7568)."
		}
		issues = append(issues, issue{"SSL3", severityFail, text})
	}
	switch {
	case len(old) == 0:
	case len(modern) == 0:
		issues = append(issues, issue{"DEPRECATED_PROTOCOL", severityFail,
			fmt.Sprintf("The server supports nothing better than %s, which clients refuse (RFC 8996).",
				text.Listed(old))})
	default:
		issues = append(issues, issue{"DEPRECATED_PROTOCOL", severityWarn,
			fmt.Sprintf("The server still accepts %s (RFC 8996).", text.Listed(old))})
	}
	if newest := r.SupportedProtocols[tlsscan.TLS13.String()]; newest != nil && !*newest {
		issues = append(issues, issue{"NO_TLS13", severityInfo, "The server does not support TLS 1.3."})
	}
	return issues
}

// taken gives the names of those of the versions that the server takes.
func taken(supported map[string]*bool, versions ...tlsscan.Version) []string {
	var names []string
	for _, version := range versions {
		if yes := supported[version.String()]; yes != nil && *yes {
			names = append(names, version.String())
		}
	}
	return names
}

// issues are about what the server takes, and what it chose in its handshake with this service.
func (p probed) issues(seen observation) []issue {
	chosen, _ := tlsscan.SuiteByID(seen.state.CipherSuite)
	return slices.Concat(insecureIssues(p.all(chosen)), chosenIssues(chosen), weakDHIssues(p, seen),
		p.quantumIssues(seen))
}

// all are the suites that are taken, each once, and the chosen one, which is one of them whatever the probing found.
func (p probed) all(chosen tlsscan.Suite) []tlsscan.Suite {
	var suites []tlsscan.Suite
	add := func(s tlsscan.Suite) {
		if !slices.ContainsFunc(suites, func(t tlsscan.Suite) bool { return t.ID == s.ID }) {
			suites = append(suites, s)
		}
	}
	for _, s := range p.Suites {
		suite, _ := tlsscan.SuiteByID(s.ID)
		add(suite)
	}
	add(chosen)
	return suites
}

// insecureKinds are the suites that no server should take, the worst first. A suite is told of once, by the first that
// it is of.
var insecureKinds = []struct {
	code string
	is   func(tlsscan.Suite) bool
	text string
}{
	{"NULL_CIPHER", named("NULL"),
		"The server accepts cipher suites that do not encrypt anything (RFC 9325): %s."},
	{"ANONYMOUS_CIPHER", func(s tlsscan.Suite) bool { return s.Authentication == "anon" },
		"The server accepts cipher suites that do not prove who the server is (RFC 9325): %s."},
	// All that there are with RC2 are among them.
	{"EXPORT_CIPHER", named("EXPORT", "EXPORT1024"),
		"The server accepts export cipher suites, whose deliberately short keys are quickly broken (RFC 9325): %s."},
	{"DES_CIPHER", named("DES", "DES40"),
		"The server accepts cipher suites with DES, whose 56-bit keys are quickly broken (RFC 9325): %s."},
	{"RC4_CIPHER", named("RC4"), "The server accepts cipher suites with RC4, which is broken (RFC 7465): %s."},
	{"3DES_CIPHER", named("3DES"),
		"The server accepts cipher suites with 3DES, whose short blocks let data leak in long connections (RFC 9325): %s."},
}

// named tells the suites that have one of the words between the underscores of their name.
func named(words ...string) func(tlsscan.Suite) bool {
	return func(s tlsscan.Suite) bool {
		return slices.ContainsFunc(strings.Split(s.Name, "_"), func(part string) bool { return slices.Contains(words, part) })
	}
}

// maxNamed is how many suites a sentence names.
const maxNamed = 4

func insecureIssues(suites []tlsscan.Suite) []issue {
	var issues []issue
	for _, kind := range insecureKinds {
		var found, others []tlsscan.Suite
		for _, s := range suites {
			if kind.is(s) {
				found = append(found, s)
			} else {
				others = append(others, s)
			}
		}
		if suites = others; len(found) > 0 {
			names := text.ListedUpTo(maxNamed, found, func(s tlsscan.Suite) string { return s.Name })
			issues = append(issues, issue{kind.code, severityFail, fmt.Sprintf(kind.text, names)})
		}
	}
	return issues
}

// chosenIssues are about the cipher suite that the server chose.
func chosenIssues(suite tlsscan.Suite) []issue {
	var issues []issue
	if !hasForwardSecrecy(suite) {
		issues = append(issues, issue{"NO_FORWARD_SECRECY", severityWarn,
			"The key exchange has no forward secrecy: whoever gets the server's key can read recorded traffic."})
	}
	if suite.Strength != tlsscan.Insecure && named("CBC")(suite) {
		issues = append(issues, issue{"CBC_CIPHER", severityInfo,
			fmt.Sprintf("The server chose %s; authenticated encryption (GCM, ChaCha20-Poly1305) is preferred.", suite.Name)})
	}
	return issues
}

// The sizes of Diffie-Hellman parameters: what RFC 9325 section 4.1 asks for at least, and what is within the reach of
// states.
const (
	enoughDHBits = 2048
	brokenDHBits = 1024
)

func weakDHIssues(p probed, seen observation) []issue {
	bits := p.DHBits
	if bits == 0 || seen.dhBits > 0 && seen.dhBits < bits {
		bits = seen.dhBits
	}
	if bits == 0 || bits >= enoughDHBits {
		return nil
	}
	severity := severityWarn
	if bits <= brokenDHBits {
		severity = severityFail
	}
	return []issue{{"WEAK_DH", severity,
		fmt.Sprintf("The server's Diffie-Hellman parameters have %d bits; %d are needed (RFC 9325).", bits, enoughDHBits)}}
}

// quantumGroups are the groups with ML-KEM, alone and together with a curve (IANA's registry of TLS
// supported groups).
var quantumGroups = []uint16{0x11EC, 0x11EB, 0x11ED, 0x0200, 0x0201, 0x0202}

// quantumIssues judge the key exchange by whether traffic that is recorded today can be read with a quantum computer.
// Nothing is said where the groups are not known.
func (p probed) quantumIssues(seen observation) []issue {
	groups := append([]uint16{uint16(seen.state.CurveID)}, p.Groups...)
	for _, group := range groups {
		if slices.Contains(quantumGroups, group) {
			return []issue{{"POST_QUANTUM", severityInfo,
				fmt.Sprintf("Post-quantum key exchange: ready. The server supports %s, so traffic that is recorded today stays "+
					"safe from quantum computers.", tlsscan.GroupName(group))}}
		}
	}
	if !p.Complete || len(p.Suites) == 0 {
		return nil
	}
	return []issue{{"NOT_POST_QUANTUM", severityInfo,
		"Post-quantum key exchange: not yet. The server supports no group such as X25519MLKEM768, so a quantum computer " +
			"could one day read traffic that is recorded today."}}
}
