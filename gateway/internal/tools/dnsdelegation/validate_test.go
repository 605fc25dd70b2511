package dnsdelegation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/rootzone"
	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"
)

// signedWorld is a signed root and a signed com, which delegate example.com to two servers.
type signedWorld struct {
	*egresstest.Network
	anchors rootzone.Anchors
	own     *signer // of example.com
}

// newSignedWorld has zone as example.com at the first server and second at the other, and ds at com. Without second,
// com delegates to the first server only.
func newSignedWorld(t *testing.T, ds func(*signer) string, zone, second func(*testing.T, *signer) string) *signedWorld {
	t.Helper()
	w := &signedWorld{Network: egresstest.New(t), own: newSigner(t, "example.com.")}
	root, com := newSigner(t, "."), newSigner(t, "com.")
	anchors, err := rootzone.ParseAnchors(root.ds())
	if err != nil {
		t.Fatal(err)
	}
	w.anchors = anchors
	w.ZoneServer([]string{rootV4}, root.sign(t, ". IN SOA a.root-servers.net. nstld.verisign-grs.com."+soaTail+
		". IN NS a.root-servers.net.\ncom. IN NS a.gtld-servers.com.\n"+com.ds()+"\na.gtld-servers.com. IN A "+comV4+"\n"))
	delegation := twoServers
	if second == nil {
		delegation = []string{"example.com. IN NS ns1.example.com.", "ns1.example.com. IN A " + oneV4}
	}
	w.ZoneServer([]string{comV4}, com.sign(t, "com. IN SOA a.gtld-servers.com. nstld.verisign-grs.com."+soaTail+
		"com. IN NS a.gtld-servers.com.\na.gtld-servers.com. IN A "+comV4+"\n"+strings.Join(delegation, "\n")+"\n"+
		ds(w.own)+"\n"))
	w.ZoneServer([]string{oneV4}, zone(t, w.own))
	if second == nil {
		return w
	}
	if text := second(t, w.own); text == "" {
		w.NameServer(twoV4 + ":53").HandleAll(silent)
	} else {
		w.ZoneServer([]string{twoV4}, text)
	}
	return w
}

func (w *signedWorld) check(t *testing.T, name string) Result {
	t.Helper()
	return toolstest.MustRun[Result](t, w.tool(t), tool.Input{Text: name})
}

func (w *signedWorld) tool(t *testing.T) tool.Tool {
	t.Helper()
	hints, err := rootzone.ParseHints(". IN NS a.root-servers.net.\na.root-servers.net. IN A " + rootV4)
	if err != nil {
		t.Fatal(err)
	}
	return newTool(Config{
		Egress: w.Client(nil), Hints: hints, Anchors: w.anchors, Shared: NewShared(nil), Now: time.Now,
	}, quick)
}

func signedZone(t *testing.T, s *signer) string { return s.sign(t, healthy()) }

// stripped returns a signed zone without the lines that hold all of the words.
func stripped(words ...string) func(*testing.T, *signer) string {
	return func(t *testing.T, s *signer) string {
		var kept []string
		for line := range strings.Lines(signedZone(t, s)) {
			dropped := true
			for _, word := range words {
				dropped = dropped && strings.Contains(line, word)
			}
			if !dropped {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
}

func expired(t *testing.T, s *signer) string {
	old := *s
	old.from, old.until = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
	return old.sign(t, healthy())
}

func TestDNSSEC(t *testing.T) {
	t.Parallel()
	own := (*signer).ds
	for name, test := range map[string]struct {
		ds           func(*signer) string
		zone, second func(*testing.T, *signer) string
		ask          string
		status       string // of the name
		code         string // of the conclusion
		reason       string // its code, or empty
	}{
		"signed":      {own, signedZone, signedZone, "example.com", "secure", "DELEGATION_SECURE", ""},
		"name below":  {own, signedZone, signedZone, "www.example.com", "secure", "DELEGATION_SECURE", ""},
		"not there":   {own, signedZone, signedZone, "no.example.com", "secure", "NAME_NOT_FOUND", "NAME_NOT_FOUND"},
		"no domain":   {own, signedZone, signedZone, "other.com", "secure", "NOT_DELEGATED", "NOT_DELEGATED"},
		"not signed":  {func(*signer) string { return "" }, plainZone, plainZone, "example.com", "insecure", "DELEGATION_OK", "DNSSEC_NO_DS"},
		"no DS":       {func(*signer) string { return "" }, signedZone, signedZone, "example.com", "insecure", "DELEGATION_OK", "DNSSEC_NO_DS"},
		"other key":   {func(*signer) string { return newSigner(t, "example.com.").ds() }, signedZone, signedZone, "example.com", "bogus", "DNSSEC_DS_KEY_MISSING", "DNSSEC_DS_KEY_MISSING"},
		"digest":      {wrongDigest, signedZone, signedZone, "example.com", "bogus", "DNSSEC_DIGEST_MISMATCH", "DNSSEC_DIGEST_MISMATCH"},
		"no keys":     {own, plainZone, plainZone, "example.com", "bogus", "DNSSEC_KEYS_MISSING", "DNSSEC_KEYS_MISSING"},
		"expired":     {own, expired, expired, "example.com", "bogus", "DNSSEC_SIGNATURE_EXPIRED", "DNSSEC_SIGNATURE_EXPIRED"},
		"no RRSIG":    {own, stripped("RRSIG", "\tMX "), stripped("RRSIG", "\tMX "), "example.com", "bogus", "DNSSEC_SIGNATURE_MISSING", "DNSSEC_SIGNATURE_MISSING"},
		"no NSEC":     {own, stripped("\tNSEC"), stripped("\tNSEC"), "example.com", "bogus", "DNSSEC_DENIAL_MISSING", "DNSSEC_DENIAL_MISSING"},
		"one server":  {own, signedZone, stripped("RRSIG", "\tSOA "), "example.com", "secure", "DNSSEC_SERVER_BOGUS", "DNSSEC_SERVER_BOGUS"},
		"bare server": {own, signedZone, plainZone, "example.com", "secure", "DNSSEC_SERVER_BOGUS", "DNSSEC_SERVER_BOGUS"},
		"unsupported": {unsupported, signedZone, signedZone, "example.com", "insecure", "DNSSEC_ALGORITHM_UNSUPPORTED", "DNSSEC_ALGORITHM_UNSUPPORTED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newSignedWorld(t, test.ds, test.zone, test.second).check(t, test.ask)
			reason := ""
			if r.Reason != nil {
				reason = r.Reason.Code
			}
			if r.DNSSEC != test.status || r.Conclusion.Code != test.code || reason != test.reason {
				t.Errorf("%s, %s, reason %q; want %s, %s, %q\n%s\n%+v", r.DNSSEC, r.Conclusion.Code, reason, test.status,
					test.code, test.reason, r.Conclusion.Message, r.Findings)
			}
			last := r.Zones[len(r.Zones)-1]
			if test.status == "secure" && test.ask == "example.com" &&
				(len(last.Keys) != 1 || len(last.DS) != 1 || !last.DS[0].Matches || len(last.Signatures) == 0) {
				t.Errorf("of example.com: %+v, %+v, %+v", last.DS, last.Keys, last.Signatures)
			}
		})
	}
}

func plainZone(*testing.T, *signer) string { return healthy() }

// wrongDigest is the DS record of a key with another digest.
func wrongDigest(s *signer) string {
	ds := s.key.ToDS(2)
	ds.Digest = strings.Repeat("ab", 32)
	return ds.String()
}

// unsupported is a DS record of an algorithm that no validator has.
func unsupported(s *signer) string {
	ds := s.key.ToDS(2)
	ds.Algorithm = 253
	return ds.String()
}

// What a run has no room left to verify is unknown, and no fault of the zone.
func TestVerificationsThatARunHasNoRoomFor(t *testing.T) {
	t.Parallel()
	w := newSignedWorld(t, (*signer).ds, signedZone, signedZone)
	ctx := processor.WithMeter(t.Context(), func(err error) { t.Error(err) })
	for processor.Of(ctx).Take(weight.P256.Cost) {
	}
	ran, err := toolstest.Run(ctx, w.tool(t), tool.Input{Text: "example.com"})
	if err != nil {
		t.Fatal(err)
	}
	r := ran.(Result)
	if r.DNSSEC != "indeterminate" || r.Conclusion.State != "unknown" ||
		r.Conclusion.Code != codeTooMuch {
		t.Errorf("%s, %+v", r.DNSSEC, r.Conclusion)
	}
}

// A zone with one server address is judged before that address has received all the messages that it may: what only
// adds to the picture is queried last.
func TestOneServerAddress(t *testing.T) {
	t.Parallel()
	lines := []string{"ns1 IN A " + oneV4, "www IN A 93.184.216.34", "host.two.three IN A 93.184.216.34",
		"alias.two.three IN CNAME www"}
	cds := "@ IN CDS 1 13 2 " + strings.Repeat("00", 32) + "\n@ IN CDNSKEY 257 3 13 AwEAAQ=="
	var many []string // names whose denials are truncated
	for _, label := range "abcdefghijkl" {
		many = append(many, string(label)+" IN A 93.184.216.34")
	}
	for name, more := range map[string][]string{"plain": nil, "with CDS": {cds}, "long": many} {
		names := []string{"example.com", "www.example.com", "missing.example.com", "no.such.example.com",
			"two.three.example.com", "host.two.three.example.com", "alias.two.three.example.com"}
		if name == "long" {
			names = names[1:] // four denials at the apex are twice four messages
		}
		for _, ask := range names {
			t.Run(name+" "+ask, func(t *testing.T) {
				t.Parallel()
				zone := func(t *testing.T, s *signer) string {
					return s.sign(t, zoneText("example.com", []string{"ns1"}, slices.Concat(more, lines)...))
				}
				r := newSignedWorld(t, (*signer).ds, zone, nil).check(t, ask)
				if r.DNSSEC != "secure" {
					t.Errorf("%s, %+v, %d queries, complete %t", r.DNSSEC, r.Reason, r.Queries, r.Complete)
				}
			})
		}
	}
}
