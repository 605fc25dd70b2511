package redirectchecker

import (
	"net/http"
	"net/url"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The flags of a hop.
const (
	flagHTTPToHTTPS        = "httpToHttps"
	flagHTTPSToHTTP        = "httpsToHttp"
	flagPermanent          = "permanent"
	flagTemporary          = "temporary"
	flagCrossHost          = "crossHost"
	flagWWWChange          = "wwwChange"
	flagRelativeLocation   = "relativeLocation"
	flagUserinfo           = "userinfo"
	flagCertificateInvalid = "certificateInvalid"
	flagConflicting        = "conflictingLocation"
	flagRepaired           = "repairedLocation"
)

// describeHops lists the URLs of a chain, each with the fragment that it has inherited, as a browser would show it. A
// destination that was refused for what its URL says is a hop too: one to which nothing was sent.
func describeHops(chain egress.Chain, fragment string) []hopResult {
	hops := make([]hopResult, 0, len(chain.Hops)+1)
	for i, hop := range chain.Hops {
		out := describeHop(hop)
		out.Index = i
		if i > 0 {
			out.URL = withFragment(out.URL, fragment)
		}
		hops = append(hops, out)
		if out.Location != nil {
			if _, own, found := strings.Cut(locationOf(hop.Response), "#"); found {
				fragment = own
			}
		}
	}
	if blocked := blockedDestination(chain); blocked != nil {
		why := hopNotPublic
		if webview.EndsAtUserName(chain) {
			why = hopWithUserName
		}
		hops = append(hops, hopResult{Index: len(hops), URL: blocked.String(),
			StatusText: rows.Sentence(why, nil), Flags: []string{},
			Notes: []webview.Note{}})
	}
	return hops
}

func describeHop(seen egress.Hop) hopResult {
	out := hopResult{URL: seen.URL.String(), Flags: []string{}, Notes: webview.Notes(seen.Response)}
	if seen.Response == nil {
		out.StatusText = webview.FaultSentence(seen.Err)
		if fault.Is(seen.Err, fault.Refused) { // what its name led to is not shown
			out.StatusText = rows.Sentence(hopNotPublic, nil)
		}
		out.ResponseTimeMs = format.Milliseconds(seen.Took)
		out.Timings.TotalMs = out.ResponseTimeMs
		return out
	}
	r := seen.Response
	out.Status, out.StatusText, out.Address = new(r.Status), webview.DescribeStatus(r), new(r.Address.String())
	// The page behind the last answer is read for its meta elements, which is no part of the answer's time.
	timings := r.Timings
	timings.Total -= timings.Body
	out.Timings = webview.DescribeTimings(timings)
	out.ResponseTimeMs = out.Timings.TotalMs
	out.Flags, out.HelloTooLong = append(out.Flags, flagsOf(r)...), r.HelloTooLong
	if egress.IsRedirect(r.Status) && len(r.Header.Values("Location")) > 0 {
		out.Location = new(webview.HeaderText(r.Header.Get("Location")))
	}
	for i, location := range r.Locations() {
		if i > 0 {
			out.OtherLocations = append(out.OtherLocations, webview.HeaderText(location))
		}
	}
	return out
}

// flagsOf describes what kind of step a hop makes.
func flagsOf(r *egress.Response) []string {
	var flags []string
	add := func(flag string, holds bool) {
		if holds {
			flags = append(flags, flag)
		}
	}
	if egress.IsRedirect(r.Status) {
		permanent := r.Status == http.StatusMovedPermanently || r.Status == http.StatusPermanentRedirect
		add(flagPermanent, permanent)
		add(flagTemporary, !permanent)
		if next := destination(r); next != nil && !conflicts(r) {
			from, to := r.URL.Host().String(), strings.ToLower(strings.TrimSuffix(next.Hostname(), "."))
			// A Location without host stays on this one, and so does a protocol-relative one to it.
			toHost := next.Host != ""
			if known, err := r.Destination(); err == nil {
				to = known.Host().String() // in its canonical form
			}
			add(flagHTTPToHTTPS, r.URL.Scheme() == "http" && next.Scheme == "https")
			add(flagHTTPSToHTTP, r.URL.Scheme() == "https" && next.Scheme == "http")
			add(flagCrossHost, toHost && from != to)
			add(flagWWWChange, toHost && (from == "www."+to || to == "www."+from))
			add(flagUserinfo, next.User != nil)
		}
		add(flagRelativeLocation, isRelative(r) && !conflicts(r))
		add(flagRepaired, r.RepairedLocation())
	}
	add(flagConflicting, conflicts(r))
	add(flagCertificateInvalid, webview.CertificateRefused(r))
	return flags
}

// conflicts reports whether the Location fields of an answer differ, so that it leads nowhere.
func conflicts(r *egress.Response) bool { return len(r.Locations()) > 1 }

// locationOf is the Location of an answer, repaired and fit to be shown.
func locationOf(r *egress.Response) string {
	repaired, _ := target.Repair(text.Decode(r.Header.Get("Location")))
	return repaired
}

// destination reads a Location more leniently than what is followed: for its description alone, never for a dial. It is
// nil where it is no URL at all.
func destination(r *egress.Response) *url.URL {
	base, err := url.Parse(r.URL.String())
	if err != nil {
		return nil
	}
	location := locationOf(r)
	next, err := base.Parse(location)
	if err != nil || location == "" {
		return nil
	}
	return next
}

func isRelative(r *egress.Response) bool {
	location := locationOf(r)
	reference, err := url.Parse(location)
	return err == nil && location != "" && reference.Scheme == ""
}

// blockedDestination is where a chain would have led that ended at a Location whose URL is refused as it stands. User
// information is left out.
func blockedDestination(chain egress.Chain) *url.URL {
	final := chain.Final()
	if chain.End != egress.EndBlocked || final == nil {
		return nil
	}
	next := destination(final)
	if next == nil {
		return nil
	}
	next.User = nil
	return next
}

// withFragment shows a URL with the fragment that it has inherited.
func withFragment(s, fragment string) string {
	if fragment == "" {
		return s
	}
	// Where its percent-encoding is whole, encoding it again changes nothing.
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	return s + "#" + (&url.URL{Fragment: fragment}).EscapedFragment()
}
