package dnsresolvercheck

import (
	"fmt"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/target"

	"github.com/google/go-cmp/cmp"
)

// said is what one resolver says: values with the seconds left, "none" for an absence, or an error code.
func said(values string, left uint32, extended ...uint16) resolverAnswer {
	a := resolverAnswer{Outcome: outcomeAnswer, Values: strings.Fields(values), TTL: &left, left: left}
	switch {
	case values == "none":
		a.Outcome, a.Values, a.TTL, a.whole = outcomeNoData, []string{}, nil, 300
	case strings.HasPrefix(values, "E"):
		a.Outcome, a.Values, a.TTL, a.ErrorCode = outcomeError, []string{}, nil, &values
	}
	for _, code := range extended {
		a.ExtendedErrors = append(a.ExtendedErrors, dnsclient.ExtendedError{Code: code})
	}
	return a
}

func validated(a resolverAnswer) resolverAnswer {
	a.Authenticated = true
	return a
}

func through(alias string, a resolverAnswer) resolverAnswer {
	a.chain = []string{alias}
	return a
}

// ownSays are the domain's own servers ns1, ns2, …, each with values, "none", "->alias" or an error code.
func ownSays(ttl uint32, each ...string) *authority {
	var servers []serverAnswer
	for i, values := range each {
		s := serverAnswer{Name: "ns" + string(rune('1'+i)), Outcome: outcomeAnswer, Values: strings.Fields(values), TTL: &ttl}
		alias, isAlias := strings.CutPrefix(values, "->")
		switch {
		case isAlias:
			s.Values, s.TTL, s.Alias = []string{}, nil, &alias
		case values == "none":
			s.Outcome, s.Values, s.TTL = outcomeNXDomain, []string{}, nil
		case values == "unasked":
			s.Outcome, s.Values, s.TTL, s.Reason = outcomeError, []string{}, nil, &values
		case strings.HasPrefix(values, "E"):
			s.Outcome, s.Values, s.TTL, s.ErrorCode = outcomeError, []string{}, nil, &values
		}
		servers = append(servers, s)
	}
	return summedUp("example.com", servers)
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	servfail := func(codes ...uint16) resolverAnswer { return said("ESERVFAIL", 0, codes...) }
	filtered := said("none", 60, 17)
	type four = [4]resolverAnswer
	same := func(a resolverAnswer) four { return four{a, a, a, a} }
	for name, test := range map[string]struct {
		recordType string
		answers    four
		own        *authority
		status     string
		changing   string // ids and seconds
		matches    string
		summary    string
	}{
		"signatures that expired": {"A", same(servfail(7)), nil, "unavailable", "", "????",
			"example.com fails DNSSEC validation: signature expired (EDE 7). None of the four resolvers returns its records."},
		"and servers that answer": {"A", four{servfail(6), servfail(7), servfail(7), servfail(6)}, ownSays(60, "one"), "unavailable", "", "????",
			"example.com fails DNSSEC validation: signature expired (EDE 7). None of the four resolvers returns its records. The domain's own servers do answer: what needs repair is its signatures, or its DS record at the registry."},
		"two reasons": {"A", four{servfail(6), servfail(9), servfail(12), servfail(6)}, nil, "unavailable", "", "????",
			"example.com fails DNSSEC validation: no DNSKEY matches the DS record (EDE 9) and the proof that something is absent is missing (EDE 12). None of the four resolvers returns its records."},
		"some without a reason": {"A", four{servfail(10), servfail(), servfail(6), said("ETIMEOUT", 0)}, nil, "unavailable", "", "????",
			"example.com fails DNSSEC validation at Cloudflare and Quad9: signatures are missing (EDE 10). Google failed to resolve the name (SERVFAIL). OpenDNS did not answer in time."},
		"the code before them": {"A", same(servfail(5)), nil, "unavailable", "", "????", "None of the four resolvers gave a usable answer."},
		"the code after them":  {"A", same(servfail(13)), nil, "unavailable", "", "????", "None of the four resolvers gave a usable answer."},
		"refused for signatures": {"A", same(said("EREFUSED", 0, 6)), nil, "unavailable", "", "????",
			"None of the four resolvers gave a usable answer."},
		"servers out of reach": {"A", four{servfail(22), servfail(22, 23), servfail(23), servfail(22, 9)}, ownSays(60, "ETIMEOUT", "ECONNREFUSED"), "unavailable", "", "????",
			"No resolver can reach the name servers of example.com: none of them answers (EDE 22) and network error (EDE 23). The domain's own servers gave this service no usable answer either."},
		"servers out of the resolvers' reach": {"A", same(servfail(22)), ownSays(60, "one", "ETIMEOUT"), "unavailable", "", "????",
			"No resolver can reach the name servers of example.com: none of them answers (EDE 22). The domain's own servers answered this service, so they may be reachable from some networks only."},
		"a server out of reach, and bad signatures": {"A", same(servfail(23, 6)), nil, "unavailable", "", "????",
			"example.com fails DNSSEC validation: signatures do not verify (EDE 6). None of the four resolvers returns its records."},
		"the codes around 22 and 23": {"A", four{servfail(21), servfail(24), servfail(21), servfail(24)}, nil, "unavailable", "", "????",
			"None of the four resolvers gave a usable answer."},
		"none, but the servers":              {"A", same(servfail()), ownSays(60, "one"), "unavailable", "", "????", "None of the four resolvers gave a usable answer. The domain's own servers answered this service."},
		"none, and no server could be asked": {"A", same(servfail()), ownSays(60, "EBUSY", "unasked"), "unavailable", "", "????", "None of the four resolvers gave a usable answer."},
		"one that does not validate": {"A", four{servfail(7), servfail(7), servfail(7), said("one", 300)}, ownSays(300, "one"), "inconclusive", "", "???=",
			"example.com fails DNSSEC validation at Cloudflare, Google and Quad9: signature expired (EDE 7); OpenDNS answered without validation. Only OpenDNS answered. The domain's own servers say the same."},
		"one that still holds what it validated": {"A", four{servfail(7), validated(said("one", 9)), servfail(7), said("one", 300)}, nil, "partial", "", "????",
			"The resolvers that answered return the same A records for example.com. example.com fails DNSSEC validation at Cloudflare and Quad9: signature expired (EDE 7); Google gave a validated answer; OpenDNS answered without validation."},
		"one that cannot reach them": {"A", four{said("one", 9), servfail(22), said("one", 9), said("one", 9)}, nil, "partial", "", "????",
			"The resolvers that answered return the same A records for example.com. Google cannot reach the name servers of example.com: none of them answers (EDE 22)."},

		"all as the servers": {"A", same(said("one", 60)), ownSays(300, "one", "one"), "agree", "", "====", "All four resolvers return the same A records for example.com. The domain's own servers say the same."},
		"all none":           {"A", same(said("none", 60)), ownSays(300, "none"), "agreeAbsent", "", "====", "All four resolvers say that example.com has no A records. The domain's own servers say the same."},
		"an alias beyond the zone": {"A", same(through("cdn.net", said("one", 60))), ownSays(300, "->cdn.net"), "agree", "", "????",
			"All four resolvers return the same A records for example.com."},
		"an alias that some lack": {"A", four{through("cdn.net", said("one", 60)), said("one", 60), said("one", 60), said("one", 60)}, ownSays(300, "->cdn.net"), "agree", "", "?xxx",
			"All four resolvers return the same A records for example.com. The domain's own servers gave this service a different answer: after a change, or because they answer by location."},
		"only one answers, and the servers": {"A", four{said("ETIMEOUT", 0), said("one", 60), said("EREFUSED", 0), said("ETIMEOUT", 0)}, ownSays(300, "one"), "inconclusive", "", "?=??",
			"Of the four resolvers only Google answered. Cloudflare did not answer in time. Quad9 refused the query (REFUSED). OpenDNS did not answer in time. The domain's own servers say the same."},

		"an older address": {"A", four{said("new", 290), said("new", 200), said("old", 41), said("new", 300)}, ownSays(300, "new", "new"), "variation", "quad9 41", "==x=",
			"The resolvers return different A records for example.com: a change seems to be in progress. Cloudflare, Google and OpenDNS answer as the domain's own servers do; Quad9 may still hold the older answer, for at most 41 s."},
		"its time is hardly used":     {"A", four{said("new", 300), said("new", 300), said("old", 299), said("new", 300)}, ownSays(300, "new"), "variation", "", "==x=", ""},
		"just enough":                 {"A", four{said("new", 300), said("new", 300), said("old", 298), said("new", 300)}, ownSays(300, "new"), "variation", "quad9 298", "==x=", ""},
		"not older than the others":   {"A", four{said("new", 41), said("new", 200), said("old", 41), said("new", 300)}, ownSays(300, "new"), "variation", "", "==x=", "The resolvers return different A records for example.com, as is usual for names that are served from several places (CDN, load balancing). Cloudflare, Google and OpenDNS answer as the domain's own servers do; Quad9 does not."},
		"two older addresses":         {"A", four{said("new", 290), said("older", 20), said("old", 41), said("new", 300)}, ownSays(300, "new"), "variation", "", "=xx=", ""},
		"half of them":                {"A", four{said("new", 290), said("old", 20), said("old", 41), said("new", 300)}, ownSays(300, "new"), "variation", "", "=xx=", ""},
		"two of three":                {"A", four{said("new", 290), said("ETIMEOUT", 0), said("old", 41), said("new", 300)}, ownSays(300, "new"), "variation", "quad9 41", "=?x=", ""},
		"an address of another TTL":   {"A", four{said("new", 60), said("new", 60), said("old", 3000), said("new", 60)}, ownSays(60, "new"), "variation", "", "==x=", ""},
		"most have the older":         {"A", four{said("old", 41), said("new", 300), said("old", 41), said("old", 41)}, ownSays(300, "new"), "variation", "", "x=xx", ""},
		"servers that differ by turn": {"A", four{said("new", 290), said("new", 200), said("old", 41), said("new", 300)}, ownSays(300, "new", "old"), "variation", "", "====", "The resolvers return different A records for example.com, as is usual for names that are served from several places (CDN, load balancing). The domain's own servers gave this service different answers, as load-balanced servers do."},
		"no servers known": {"A", four{said("new", 290), said("new", 200), said("old", 41), said("new", 300)}, nil, "variation", "quad9 41", "????",
			"The resolvers return different A records for example.com: a change seems to be in progress. Quad9 may still hold the older answer, for at most 41 s."},
		"servers that are silent":            {"TXT", four{said("new", 290), said("new", 200), said("old", 41), said("new", 300)}, ownSays(60, "ETIMEOUT"), "conflict", "quad9 41", "????", ""},
		"none known, hardly older":           {"A", four{said("new", 300), said("new", 300), said("old", 298), said("new", 300)}, nil, "variation", "quad9 298", "????", ""},
		"none known, not older":              {"A", four{said("new", 300), said("new", 300), said("old", 299), said("new", 300)}, nil, "variation", "", "????", ""},
		"none known, older than some":        {"A", four{said("new", 41), said("new", 300), said("old", 41), said("new", 300)}, nil, "variation", "", "????", ""},
		"none known, half of them":           {"A", four{said("new", 300), said("new", 300), said("old", 41), said("old", 50)}, nil, "variation", "", "????", ""},
		"none known, two of three":           {"A", four{said("new", 300), said("new", 300), said("old", 41), said("ETIMEOUT", 0)}, nil, "variation", "quad9 41", "????", ""},
		"none known, two older ones":         {"A", four{said("new", 300), said("new", 300), said("old", 41), said("older", 50)}, nil, "variation", "", "????", ""},
		"none known, and an absence":         {"A", four{said("new", 300), said("new", 300), said("none", 41), said("new", 300)}, nil, "mixedPresence", "", "????", ""},
		"none known, and none has an answer": {"A", same(said("ETIMEOUT", 0)), nil, "unavailable", "", "????", ""},
		"an older alias":                     {"CNAME", four{said("new", 290), said("new", 200), said("old", 41), said("new", 300)}, ownSays(300, "new"), "variation", "quad9 41", "==x=", ""},
		"all have another address": {"A", same(said("old", 41)), ownSays(300, "new"), "agree", "", "xxxx",
			"All four resolvers return the same A records for example.com. The domain's own servers gave this service a different answer: after a change, or because they answer by location."},

		"an older text": {"TXT", four{said("new", 3500), said("old", 2999), said("new", 3600), said("new", 3600)}, ownSays(3600, "new"), "conflict", "google 2999", "=x==",
			"The resolvers return different TXT records for example.com, even when asked again a second later: a change seems to be in progress. Cloudflare, Quad9 and OpenDNS answer as the domain's own servers do; Google may still hold the older answer, for at most 50 minutes."},
		"most have the older text": {"TXT", four{said("old", 9000), said("old", 41), said("new", 10800), said("old", 41)}, ownSays(10800, "new"), "conflict", "cloudflare google opendns 9000", "xx=x",
			"The resolvers return different TXT records for example.com, even when asked again a second later: a change seems to be in progress. Quad9 answers as the domain's own servers do; Cloudflare, Google and OpenDNS may still hold the older answer, for at most 3 hours."},
		"all have the older text": {"TXT", same(said("old", 200000)), ownSays(604800, "new"), "agree", "cloudflare google quad9 opendns 200000", "xxxx",
			"All four resolvers return the same TXT records for example.com. The domain's own servers already give a different answer: Cloudflare, Google, Quad9 and OpenDNS may still hold the older one, for at most 3 days."},
		"a text of a longer TTL": {"TXT", four{said("new", 60), said("old", 599), said("new", 60), said("new", 60)}, ownSays(60, "new"), "conflict", "google 599", "=x==", ""},
		"a text that is fresh":   {"TXT", four{said("new", 60), said("old", 60), said("new", 60), said("new", 60)}, ownSays(60, "new"), "conflict", "", "=x==", "The resolvers return different TXT records for example.com, even when asked again a second later. Cloudflare, Quad9 and OpenDNS answer as the domain's own servers do; Google does not."},
		"servers that differ": {"TXT", same(said("new", 60)), ownSays(60, "new", "old", "new"), "agree", "", "====",
			"All four resolvers return the same TXT records for example.com. The domain's own servers do not have the same TXT records: ns2 differs from ns1."},

		"published just now": {"TXT", four{said("new", 290), said("none", 120), said("new", 300), said("new", 300)}, ownSays(300, "new"), "mixedPresence", "google 120", "=x==",
			"Cloudflare, Quad9 and OpenDNS return TXT records for example.com; Google does not: a change seems to be in progress. Cloudflare, Quad9 and OpenDNS answer as the domain's own servers do; Google may still hold the older answer, for at most 120 s."},
		"an absence that is fresh":                     {"TXT", four{said("new", 290), said("none", 299), said("new", 300), said("new", 300)}, ownSays(300, "new"), "mixedPresence", "", "=x==", ""},
		"an absence without its time":                  {"TXT", four{said("new", 290), said("none", 0), said("new", 300), said("new", 300)}, ownSays(300, "new"), "mixedPresence", "", "=x==", ""},
		"one that filters":                             {"A", four{said("new", 290), filtered, said("new", 300), said("new", 300)}, ownSays(300, "new"), "mixedPresence", "", "=x==", "Cloudflare, Quad9 and OpenDNS return A records for example.com; Google does not. Cloudflare, Quad9 and OpenDNS answer as the domain's own servers do; Google does not. Google may be filtering this name."},
		"removed just now":                             {"A", four{said("none", 290), said("old", 120), said("none", 300), said("none", 300)}, ownSays(300, "none"), "mixedPresence", "google 120", "=x==", ""},
		"an address published, and no resolver has it": {"A", same(said("none", 120)), ownSays(300, "new"), "agreeAbsent", "cloudflare google quad9 opendns 120", "xxxx", ""},
		"an address that one server lacks": {"A", same(said("new", 120)), ownSays(300, "new", "none"), "agree", "", "====",
			"All four resolvers return the same A records for example.com. The domain's own servers do not have the same A records: ns2 differs from ns1."},
		"published, and no resolver has it": {"TXT", same(said("none", 120)), ownSays(300, "new"), "agreeAbsent", "cloudflare google quad9 opendns 120", "xxxx",
			"All four resolvers say that example.com has no TXT records. The domain's own servers already give a different answer: Cloudflare, Google, Quad9 and OpenDNS may still hold the older one, for at most 120 s."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			domain, err := target.ParseDomain("example.com", true)
			if err != nil {
				t.Fatal(err)
			}
			answers := test.answers[:]
			for i, r := range publicResolvers {
				answers[i].ID, answers[i].Name = r.id, r.name
			}
			got := query{domain, test.recordType}.result(answers, test.own, nil)
			if got.Status != test.status {
				t.Errorf("status %s, want %s", got.Status, test.status)
			}
			if diff := cmp.Diff(test.changing, changeText(got.Changing)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.matches, matchText(answers)); diff != "" {
				t.Error(diff)
			}
			holdsTogether(t, got.Report)
			if diff := cmp.Diff(test.summary, got.Summary); test.summary != "" && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func changeText(c *change) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %d", strings.Join(c.Resolvers, " "), c.Seconds)
}

// matchText is "=", "x" or "?" for each resolver.
func matchText(answers []resolverAnswer) string {
	var text strings.Builder
	for _, a := range answers {
		switch {
		case a.MatchesAuthoritative == nil:
			text.WriteByte('?')
		case *a.MatchesAuthoritative:
			text.WriteByte('=')
		default:
			text.WriteByte('x')
		}
	}
	return text.String()
}
