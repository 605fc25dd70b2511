package uptime

import (
	"errors"
	"testing"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

// answered is a hop with an answer; code is what is wrong with its certificate.
func answered(t *testing.T, url string, status int, phrase, code string) egress.Hop {
	t.Helper()
	verdict := certs.Verdict{Authorized: code == "", Code: code}
	return egress.Hop{URL: parsed(t, url), Response: &egress.Response{
		Status: status, StatusText: phrase, TLS: &egress.TLS{Verdict: verdict},
	}}
}

func failed(t *testing.T, url string, kind fault.Kind, sentence string) egress.Hop {
	t.Helper()
	return egress.Hop{URL: parsed(t, url), Err: fault.Wrap(kind, errors.New("not to be told"), sentence)}
}

func parsed(t *testing.T, url string) target.URL {
	t.Helper()
	u, err := target.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestEveryTrouble: each kind has its own sentence, and what has the same sentence is the same trouble.
func TestEveryTrouble(t *testing.T) {
	t.Parallel()
	const site, next = "https://example.com/", "https://www.example.com/"
	silent := "example.com did not accept a connection in time."
	dead := "www.example.com refused the connection."
	page := answered(t, site, 200, "OK", "")
	redirect := answered(t, site, 302, "Found", "")
	ended := func(end egress.ChainEnd, hops ...egress.Hop) egress.Chain {
		return egress.Chain{End: end, Err: fault.New(fault.Upstream, "The target is at 10.0.0.1."), Hops: hops}
	}
	lost := failed(t, next, fault.Upstream, dead)
	unreachable := egress.Chain{End: egress.EndUnreachable, Err: lost.Err, Hops: []egress.Hop{redirect, lost}}
	rows := []struct {
		name   string
		chain  egress.Chain
		reason string
	}{
		{"none", ended(egress.EndFinal, page), ""},
		{"none after a redirect", ended(egress.EndFinal, redirect, answered(t, next, 399, "", "")), ""},
		{"status", ended(egress.EndFinal, answered(t, site, 404, "Not Found", "")), "The server answered 404 Not Found."},
		{"own phrase", ended(egress.EndFinal, answered(t, site, 404, "Nothing", "")), "The server answered 404 Nothing."},
		{"status without phrase", ended(egress.EndFinal, answered(t, site, 477, "", "")), "The server answered 477."},
		{"silence", ended(egress.EndUnreachable, failed(t, site, fault.Timeout, silent)), silent},
		{"refused target", ended(egress.EndBlocked, failed(t, site, fault.Refused, "This is not public.")), "This is not public."},
		{"loop", ended(egress.EndLoop, redirect), "The site's redirects form a loop."},
		{"too many", ended(egress.EndTooManyRedirects, redirect), "The site redirects more than 5 times."},
		{"no Location", ended(egress.EndMissingLocation, redirect), "The site redirects without saying where to."},
		{"bad Location", ended(egress.EndInvalidLocation, redirect), "The site redirects to something that is not a valid URL."},
		{"other scheme", ended(egress.EndUnsupportedScheme, redirect), "The site redirects to a URL that is neither http nor https."},
		{"blocked", ended(egress.EndBlocked, redirect), "The site redirects to a URL that this service does not visit, because it is not public or contains a user name."},
		{"deadline on the way", ended(egress.EndDeadline, redirect, failed(t, next, fault.Timeout, silent)), "The site's redirects took too long to follow."},
		{"dead host behind a redirect", unreachable, "A redirect could not be followed: www.example.com refused the connection."},
		{"certificate", ended(egress.EndFinal, answered(t, site, 200, "OK", "CERT_HAS_EXPIRED")), "The certificate of example.com is not valid: it has expired."},
		{"certificate on the way", ended(egress.EndFinal, answered(t, site, 302, "Found", "CERT_HAS_EXPIRED"), answered(t, next, 200, "OK", "CERT_NOT_YET_VALID")), "The certificate of example.com is not valid: it has expired."},
		{"certificate of another host", ended(egress.EndFinal, redirect, answered(t, next, 200, "OK", "CERT_HAS_EXPIRED")), "The certificate of www.example.com is not valid: it has expired."},
		{"status and certificate", ended(egress.EndFinal, answered(t, site, 404, "", "CERT_HAS_EXPIRED")), "The server answered 404 Not Found. The certificate of example.com is not valid: it has expired."},
	}
	for _, row := range rows {
		check := familyCheck{family: 4, chain: row.chain}
		if got := check.trouble().reason(); got != row.reason {
			t.Errorf("%s: %q", row.name, got)
		}
		if check.troubled() != (row.reason != "") {
			t.Errorf("%s: troubled is %t", row.name, check.troubled())
		}
		for _, other := range rows {
			both := []familyCheck{check, {family: 6, chain: other.chain}}
			if same := both[0].trouble() == both[1].trouble(); same != (row.reason == other.reason) {
				t.Errorf("%s and %s: the same trouble is %t", row.name, other.name, same)
			}
			if got, want := joinReasons(both), joined(row.reason, other.reason); got != want {
				t.Errorf("%s and %s: %q, want %q", row.name, other.name, got, want)
			}
		}
	}
}

// joined is what is told of two families with these reasons.
func joined(four, six string) string {
	switch {
	case four == six:
		return four
	case four == "":
		return "Over IPv6: " + six
	case six == "":
		return "Over IPv4: " + four
	}
	return "Over IPv4: " + four + " Over IPv6: " + six
}
