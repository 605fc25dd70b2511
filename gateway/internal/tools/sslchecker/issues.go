package sslchecker

import (
	"crypto/x509"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/tool/finding"
)

// A near end is reported from two weeks before, and is a fault within three days, both only in the last third of the
// certificate's life.
const (
	expiresSoonDays = 14
	lastDays        = 3
)

const daySeconds = 24 * 60 * 60

// validityLimit is the longest validity of a certificate that is valid from a day on.
type validityLimit struct {
	from         time.Time
	months, days int
}

// validityLimits are the longest validities that public authorities may issue (Baseline Requirements section 6.3.2), by
// the day on which the validity begins, latest first.
var validityLimits = []validityLimit{
	{from: date(2029, 3, 15), days: 47},
	{from: date(2027, 3, 15), days: 100},
	{from: date(2026, 3, 15), days: 200},
	{from: date(2020, 9, 1), days: 398},
	{from: date(2018, 3, 1), days: 825},
	{from: date(2015, 4, 1), months: 39},
	{months: 60},
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// findingsOf lists all that holds of what an address has shown, the verdict first.
func findingsOf(r Result, verdict certs.Verdict, seen observation, now time.Time) []finding.Finding {
	sent := seen.state.PeerCertificates
	found := slices.Concat(verdictFindings(verdict, now), chainFindings(len(sent), verdict),
		leafFindings(r.Certificate, sent[0], verdict.Public), r.ending.findings(sent[0], now),
		browserFindings(sent[0]), stapleFindings(r))
	if seen.failure == nil { // else those that come with the handshake may have been missed
		found = append(found, timestampFindings(verdict, r.Port, r.SCTs)...)
	}
	return append(found, handshakeFindings(seen)...)
}

// leafFindings are about the server's own certificate; public is that a public authority issued it.
func leafFindings(cert certificate, leaf *x509.Certificate, public bool) []finding.Finding {
	draft := rows.Draft()
	if cert.KeyType == "RSA" && cert.KeyBits < 2048 || cert.KeyType == "ECDSA" && cert.KeyBits < 256 {
		draft.Add("WEAK_KEY", "", finding.Args{"bits": cert.KeyBits})
	}
	if len(cert.SubjectAltNames.DNS)+len(cert.SubjectAltNames.IP) == 0 {
		draft.Add("NO_SUBJECT_ALT_NAMES", "", nil)
	}
	draft.AddFinding(validityFindings(leaf, public)...)
	return draft.Findings()
}

// ending is when clients stop accepting a certificate: at the earliest end on the path that they use, or at its own end
// without a path to a trusted root.
type ending struct {
	at    time.Time
	days  int64 // until then
	chain bool  // the chain ends before the certificate
}

func endingOf(verdict certs.Verdict, leaf *x509.Certificate, now time.Time) ending {
	e := ending{at: leaf.NotAfter}
	if !verdict.Ends.IsZero() && verdict.Ends.Before(leaf.NotAfter) {
		e.at, e.chain = verdict.Ends, true
	}
	e.days = daysRemaining(e.at, now)
	return e
}

// findings report an end that is near, and a chain that ends before the certificate.
func (e ending) findings(leaf *x509.Certificate, now time.Time) []finding.Finding {
	life := leaf.NotAfter.Unix() - leaf.NotBefore.Unix() + 1 // both ends are inside it
	lastThird := 3*(e.at.Unix()-now.Unix()) <= life
	var code string
	switch near := lastThird && e.days <= expiresSoonDays; {
	case e.days < 0 || now.Before(leaf.NotBefore):
		return nil
	case near && e.days < lastDays:
		code = "ABOUT_TO_EXPIRE"
	case near:
		code = "EXPIRES_SOON"
	case e.chain:
		code = "EXPIRES_FIRST"
	default:
		return nil
	}
	if e.chain {
		return only("CHAIN_"+code, days(e.days))
	}
	return only("CERT_"+code, days(e.days))
}

// validityFindings hold the leaf of a public authority against the limit of its time. Other authorities have no limit.
func validityFindings(leaf *x509.Certificate, public bool) []finding.Finding {
	if !public {
		return nil
	}
	i := slices.IndexFunc(validityLimits, func(l validityLimit) bool { return !leaf.NotBefore.Before(l.from) })
	limit := validityLimits[i]
	switch {
	case leaf.NotAfter.Before(leaf.NotBefore.AddDate(0, limit.months, limit.days)): // both ends are inside it
		return nil
	case limit.months > 0:
		return only("VALIDITY_TOO_LONG", finding.Args{"months": limit.months})
	}
	return only("VALIDITY_TOO_LONG", finding.Args{"days": limit.days})
}

// stapleFindings are about the revocation status that was sent along.
func stapleFindings(r Result) []finding.Finding {
	must := r.Certificate.MustStaple
	switch status := r.OCSPStapling.Status; {
	case !r.OCSPStapling.Present && must:
		return only("MUST_STAPLE_MISSING", nil)
	case status == nil:
	case *status == stapleRevoked:
		return only(codeRevoked, nil)
	case *status == stapleUnknown:
		return only("OCSP_STATUS_UNKNOWN", nil)
	case *status == stapleInvalid && must:
		return only("MUST_STAPLE_INVALID", nil)
	case *status == stapleInvalid:
		return only("OCSP_STAPLE_INVALID", nil)
	}
	return nil
}

// handshakeFindings are about how the handshake went.
func handshakeFindings(seen observation) []finding.Finding {
	switch {
	case seen.clientRequested:
		return only("CLIENT_CERTIFICATE_REQUESTED", nil)
	case seen.read:
		return only("HANDSHAKE_ONLY_READ", nil)
	case seen.failure != nil:
		return only("HANDSHAKE_NOT_COMPLETED", nil)
	}
	return nil
}

// browserFindings are about what browsers in particular do not take.
func browserFindings(leaf *x509.Certificate) []finding.Finding {
	draft := rows.Draft()
	if certs.AnyPurposeOnly(leaf) {
		draft.Add("ANY_PURPOSE_ONLY", "", nil)
	}
	if kind, _ := describeKey(leaf); slices.Contains(keysOfNoBrowser, kind) {
		draft.Add("UNSUPPORTED_KEY", "", finding.Args{"kind": kind})
	}
	return draft.Findings()
}

// keysOfNoBrowser are the kinds of keys that TLS defines and browsers do not offer.
var keysOfNoBrowser = []string{"Ed25519", "Ed448", "DSA"}

// mailPorts are those whose clients do not require timestamps.
var mailPorts = []uint16{25, 110, 143, 465, 587, 993, 995, 2525, 4190}

// timestampFindings are about signed certificate timestamps, which browsers demand of authorities that they trust
// themselves, and of no others.
func timestampFindings(verdict certs.Verdict, port uint16, got timestamps) []finding.Finding {
	if got.Count > 0 || !verdict.Public || slices.Contains(mailPorts, port) {
		return nil
	}
	return only("NO_SCTS", nil)
}

// protocolFindings are about the versions of the protocol.
func protocolFindings(supported map[string]*bool) []finding.Finding {
	draft := rows.Draft()
	old := taken(supported, tlsscan.TLS10, tlsscan.TLS11)
	modern := taken(supported, tlsscan.TLS12, tlsscan.TLS13)
	if ssl3 := taken(supported, tlsscan.SSL30); len(ssl3) > 0 {
		if len(old)+len(modern) == 0 {
			draft.Add("ONLY_SSL3", "", finding.Args{"newest": ssl3[0]})
		} else {
			draft.Add("SSL3", "", nil)
		}
	}
	switch {
	case len(old) == 0:
	case len(modern) == 0:
		draft.Add("ONLY_OUTDATED_PROTOCOLS", "", finding.Args{"newest": old[len(old)-1]})
	default:
		draft.Add("DEPRECATED_PROTOCOL", "", finding.Args{"versions": old})
	}
	if newest := supported[tlsscan.TLS13.String()]; newest != nil && !*newest {
		draft.Add("NO_TLS13", "", nil)
	}
	return draft.Findings()
}

// taken returns the names of the versions that the server accepts, in words.
func taken(supported map[string]*bool, versions ...tlsscan.Version) []string {
	var names []string
	for _, version := range versions {
		if yes := supported[version.String()]; yes != nil && *yes {
			names = append(names, versionInWords(version.String()))
		}
	}
	return names
}

// versionInWords writes a version, such as TLSv1.2 or SSLv3, as sentences do.
func versionInWords(version string) string {
	if version == tlsscan.SSL30.String() {
		return "SSL 3.0"
	}
	return strings.Replace(version, "v", " ", 1)
}

// findings are about what the server takes, and what it chose in its handshake with this service.
func (p probed) findings(seen observation) []finding.Finding {
	chosen, _ := tlsscan.SuiteByID(seen.state.CipherSuite)
	return slices.Concat(insecureFindings(p.all(chosen)), chosenFindings(chosen), weakDHFindings(p, seen),
		p.quantumFindings(seen))
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

// insecureKinds are the suites that no server should take, the worst first. A suite is reported once, by the first that
// it is of.
var insecureKinds = []struct {
	code string
	is   func(tlsscan.Suite) bool
}{
	{"NULL_CIPHER", named("NULL")},
	{"ANONYMOUS_CIPHER", func(s tlsscan.Suite) bool { return s.Authentication == "anon" }},
	{"EXPORT_CIPHER", named("EXPORT", "EXPORT1024")}, // all that there are with RC2 are among them
	{"DES_CIPHER", named("DES", "DES40")},
	{"RC4_CIPHER", named("RC4")},
	{"3DES_CIPHER", named("3DES")},
}

// named lists the suites that have one of the words between the underscores of their name.
func named(words ...string) func(tlsscan.Suite) bool {
	return func(s tlsscan.Suite) bool {
		return slices.ContainsFunc(strings.Split(s.Name, "_"), func(part string) bool { return slices.Contains(words, part) })
	}
}

// maxNamed is how many suites a sentence names.
const maxNamed = 4

func insecureFindings(suites []tlsscan.Suite) []finding.Finding {
	draft := rows.Draft()
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
			draft.Add(kind.code, "", listed("suites", maxNamed, found, func(s tlsscan.Suite) string { return s.Name }))
		}
	}
	return draft.Findings()
}

// chosenFindings are about the cipher suite that the server chose.
func chosenFindings(suite tlsscan.Suite) []finding.Finding {
	draft := rows.Draft()
	if !hasForwardSecrecy(suite) {
		draft.Add("NO_FORWARD_SECRECY", "", nil)
	}
	if suite.Strength != tlsscan.Insecure && named("CBC")(suite) {
		draft.Add("CBC_CIPHER", "", finding.Args{"suite": suite.Name})
	}
	return draft.Findings()
}

// The sizes of Diffie-Hellman parameters: what RFC 9325 section 4.1 requires at least, and what is within the reach of
// states.
const (
	enoughDHBits = 2048
	brokenDHBits = 1024
)

func weakDHFindings(p probed, seen observation) []finding.Finding {
	bits := p.DHBits
	if bits == 0 || seen.dhBits > 0 && seen.dhBits < bits {
		bits = seen.dhBits
	}
	switch {
	case bits == 0 || bits >= enoughDHBits:
		return nil
	case bits <= brokenDHBits:
		return only("VERY_WEAK_DH", finding.Args{"bits": bits})
	}
	return only("WEAK_DH", finding.Args{"bits": bits})
}

// quantumGroups are the groups with ML-KEM, alone and together with a curve (IANA's registry of TLS
// supported groups).
var quantumGroups = []uint16{0x11EC, 0x11EB, 0x11ED, 0x0200, 0x0201, 0x0202}

// quantumFindings judge the key exchange by whether traffic that is recorded today can be read with a quantum computer.
// Nothing is said where the groups are not known.
func (p probed) quantumFindings(seen observation) []finding.Finding {
	groups := append([]uint16{uint16(seen.state.CurveID)}, p.Groups...)
	if i := slices.IndexFunc(groups, func(g uint16) bool { return slices.Contains(quantumGroups, g) }); i >= 0 {
		return only("POST_QUANTUM", finding.Args{"group": tlsscan.GroupName(groups[i])})
	}
	if !p.Complete || len(p.Suites) == 0 {
		return nil
	}
	return only("NOT_POST_QUANTUM", nil)
}
