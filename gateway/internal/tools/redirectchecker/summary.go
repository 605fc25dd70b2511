package redirectchecker

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// summarize says in a sentence or two how the chain ended.
func summarize(r Result, chain egress.Chain) string {
	return countWords(r.RedirectCount) + " " + ending(r, chain)
}

func countWords(n int) string {
	switch n {
	case 0:
		return "No redirect was followed."
	case 1:
		return "One redirect was followed."
	}
	return fmt.Sprintf("%d redirects were followed.", n)
}

func ending(r Result, chain egress.Chain) string {
	last := chain.Hops[len(chain.Hops)-1]
	host := last.URL.Host().Short()
	switch chain.End {
	case egress.EndFinal:
		answer := strings.TrimSpace(fmt.Sprintf("%d %s", *r.FinalStatus, r.Hops[len(r.Hops)-1].StatusText))
		text := fmt.Sprintf("%s answers %s.", host, answer)
		if r.ClientRedirect != nil {
			text += " The page itself then sends browsers elsewhere, but that is not followed here."
		}
		if conflicts(last.Response) {
			text += " It sends conflicting Location headers, and browsers show an error instead of such an answer."
		}
		return text
	case egress.EndLoop:
		return "The next one leads back to a URL that was already visited: a loop."
	case egress.EndTooManyRedirects:
		return fmt.Sprintf("%s redirects once more, but at most %d are followed.", host, maxRedirects)
	case egress.EndMissingLocation:
		return fmt.Sprintf("%s redirects without saying where to: there is no Location, or it is blank.", host)
	case egress.EndInvalidLocation:
		if conflicts(last.Response) {
			return fmt.Sprintf("%s names %d conflicting destinations (Location) in one redirect. Browsers stop there and "+
				"show an error, and so does this check.", host, len(last.Response.Locations()))
		}
		return fmt.Sprintf("%s redirects to something that is not a valid URL. %s", host, locationSentence(chain.Err))
	case egress.EndUnsupportedScheme:
		return fmt.Sprintf("%s redirects to %s, which is neither http nor https.", host, schemeWords(last.Response))
	case egress.EndBlocked:
		return blockedEnding(chain, last)
	case egress.EndDeadline:
		return "Then this check ran out of time."
	}
	return webview.FaultSentence(last.Err)
}

// blockedEnding does not repeat what the name of a refused hop led to.
func blockedEnding(chain egress.Chain, last egress.Hop) string {
	if limited := chain.Limited(); limited != nil {
		return "The next destination was not visited. " + webview.FaultSentence(limited)
	}
	if endsAtUserName(chain) {
		return fmt.Sprintf("%s redirects to a URL with a user name in it, which is not followed. Nothing was sent to it.",
			last.URL.Host().Short())
	}
	return "The next destination is not a public address that this service may visit. Nothing was sent to it."
}

// endsAtUserName reports whether a chain was not followed for the user information in a Location, whatever its host.
func endsAtUserName(chain egress.Chain) bool {
	location, is := errors.AsType[*target.LocationError](chain.Err)
	return is && location.Problem == target.LocationCredentials
}

// locationSentence is what is wrong with a Location.
func locationSentence(err error) string {
	if location, is := errors.AsType[*target.LocationError](err); is {
		return webview.FaultSentence(location.Err)
	}
	return ""
}

// maxShownScheme bounds what is repeated of a scheme, which holds no other characters than letters, digits, +, - and
// dots.
const maxShownScheme = 30

func schemeWords(r *egress.Response) string {
	scheme := ""
	if u, err := url.Parse(strings.TrimSpace(r.Header.Get("Location"))); err == nil {
		scheme = u.Scheme
	}
	if scheme == "" || len(scheme) > maxShownScheme {
		return "a URL of another scheme"
	}
	return "a URL of the scheme " + scheme
}
