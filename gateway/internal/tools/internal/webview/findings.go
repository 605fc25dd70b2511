package webview

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
)

// SlowMs is the response time in milliseconds from which an answer is slow, in every tool that measures one.
const SlowMs = 2000

// ConnectSeconds is how long a connection is waited for, in words.
var ConnectSeconds = fmt.Sprintf("%d seconds", int(egress.ConnectTimeout.Seconds()))

// The codes of what several web tools report.
const (
	CodeSlow        = "SLOW_RESPONSE"
	CodeChallenge   = "BOT_CHALLENGE"
	CodeServerError = "SERVER_ERROR"
	CodeClientError = "ERROR_STATUS"
	CodeRefused     = "REQUEST_REFUSED"
	CodePlain       = "NOT_ENCRYPTED"
	CodeConflict    = "LOCATION_CONFLICT"

	CodeCertificate = "CERTIFICATE_INVALID"
	CodeUnverified  = "CERTIFICATE_NOT_VERIFIED"
	CodeHello       = "HELLO_INTOLERANT"

	CodeNoConnection = "NO_CONNECTION"
	CodeNoAnswer     = "NO_ANSWER"
	CodeNotVisited   = "NOT_VISITED"

	CodeLoop         = "REDIRECT_LOOP"
	CodeManyRedirect = "TOO_MANY_REDIRECTS"
	CodeNoLocation   = "REDIRECT_WITHOUT_LOCATION"
	CodeBadLocation  = "REDIRECT_INVALID"
	CodeScheme       = "REDIRECT_SCHEME"
	CodeNotPublic    = "REDIRECT_NOT_PUBLIC"
	CodeUserName     = "REDIRECT_USER_NAME"
	CodeDeadRedirect = "REDIRECT_UNREACHABLE"
	CodeNotFinished  = "NOT_FINISHED"
)

const httpSpec = "https://www.rfc-editor.org/rfc/rfc9110.html"

// shared are the rows of what several web tools report. %[1]s is the host, with its port where that is no default.
var shared = map[string]finding.Entry{
	CodeSlow: {Severity: finding.Warn, Group: finding.Safer, Weight: 40,
		Message: "%[1]s takes %[2]s to answer."},
	CodeChallenge: {Severity: finding.Warn, Group: finding.Note, Weight: 9,
		Message: "%[1]s answers %[2]s. %[3]s asks visitors to prove that they are human, which this service cannot do.",
		Remedy:  "Open the site in a browser, or let this service through with a rule in %[3]s."},
	CodeServerError: {Severity: finding.Fail, Group: finding.Broken, Weight: 94, Message: "%[1]s answers %[2]s.",
		Remedy: "Look for the error in the server's log.", Reference: httpSpec + "#section-15.6"},
	CodeClientError: {Severity: finding.Warn, Group: finding.Broken, Weight: 62, Message: "%[1]s answers %[2]s.",
		Reference: httpSpec + "#section-15.5"},
	CodeRefused: {Severity: finding.Warn, Group: finding.Note, Weight: 9,
		Message:   "%[1]s answers %[2]s, perhaps only to automated checks.",
		Reference: httpSpec + "#section-15.5"},
	CodePlain: {Severity: finding.Warn, Group: finding.Safer, Weight: 55,
		Message: "%[1]s is served without encryption.", Remedy: "Redirect every http URL to https."},
	CodeConflict: {Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Message:   "%[1]s sends conflicting Location headers, and browsers show an error instead of such an answer.",
		Remedy:    "Send one Location header.",
		Reference: httpSpec + "#section-10.2.2"},

	CodeCertificate: {Severity: finding.Fail, Group: finding.Broken, Weight: 92,
		Message: "The certificate of %[1]s is not valid: %[2]s.", Remedy: "Install a valid certificate for this name."},
	CodeUnverified: {Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "This service could not verify the certificate of %[1]s: %[2]s."},
	CodeHello: {Severity: finding.Warn, Group: finding.Broken, Weight: 84,
		Message:   "%[1]s does not answer a TLS hello as long as that of a current browser, only a shorter one.",
		Remedy:    "Update the server or the firewall before it, so that a ClientHello may be longer than one packet.",
		Reference: "https://www.rfc-editor.org/rfc/rfc8446#section-4.1.2"},

	CodeNoConnection: {Severity: finding.Fail, Group: finding.Broken, Weight: 97,
		Message: "%[1]s accepts no connection within %[2]s.",
		Remedy:  "Check that the server runs and that no firewall drops the packets."},
	CodeNoAnswer: {Severity: finding.Fail, Group: finding.Broken, Weight: 96, Message: "%[1]s"},
	CodeNotVisited: {Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "The next URL was not visited. %[1]s"},

	CodeLoop: {Severity: finding.Fail, Group: finding.Broken, Weight: 91,
		Message: "The redirects of %[1]s form a loop, so no page loads.", Remedy: "Let one of the redirects lead to a page."},
	CodeManyRedirect: {Severity: finding.Warn, Group: finding.Safer, Weight: 45,
		Message: "%[1]s redirects more than %[2]d times.", Remedy: "Redirect straight to the last URL."},
	CodeNoLocation: {Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Message: "%[1]s redirects without saying where to.", Remedy: "Send a Location header with the redirect.",
		Reference: httpSpec + "#section-10.2.2"},
	CodeBadLocation: {Severity: finding.Fail, Group: finding.Broken, Weight: 90,
		Message:   "%[1]s redirects to something that is not a valid URL.%[3]s",
		Reference: httpSpec + "#section-10.2.2"},
	CodeScheme: {Severity: finding.Fail, Group: finding.Broken, Weight: 85,
		Message: "%[1]s redirects to a URL that is neither http nor https."},
	CodeNotPublic: {Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Message: "%[1]s redirects to an address that is not public.%[3]s"},
	CodeUserName: {Severity: finding.Warn, Group: finding.Safer, Weight: 40,
		Message: "%[1]s redirects to a URL with a user name in it.", Remedy: "Leave the user name out of the Location."},
	CodeDeadRedirect: {Severity: finding.Fail, Group: finding.Broken, Weight: 89,
		Message: "A redirect of %[1]s leads to no answer. %[2]s"},
	CodeNotFinished: {Severity: finding.Info, Group: finding.Note, Weight: 5,
		Message: "The check ran out of time before the redirects ended."},
}

// Entries are the shared rows of the codes, and the tool's own.
func Entries(own map[string]finding.Entry, codes ...string) map[string]finding.Entry {
	entries := make(map[string]finding.Entry, len(own)+len(codes))
	for _, code := range codes {
		entries[code] = shared[code]
	}
	maps.Copy(entries, own)
	return entries
}

// Outcomes are conclusions with the sentences of the shared rows of the codes, and the tool's own. What is only worth a
// note is unknown, as it is about what this service could not find out.
func Outcomes(own map[string]finding.Outcome, codes ...string) map[string]finding.Outcome {
	states := map[finding.Severity]finding.State{
		finding.Fail: finding.Failed, finding.Warn: finding.Warned, finding.Info: finding.Unknown,
	}
	outcomes := make(map[string]finding.Outcome, len(own)+len(codes))
	for _, code := range codes {
		outcomes[code] = finding.Outcome{State: states[shared[code].Severity], Message: shared[code].Message}
	}
	maps.Copy(outcomes, own)
	return outcomes
}

// ChainCodes are those that BadEnd returns.
var ChainCodes = []string{CodeNoConnection, CodeNoAnswer, CodeNotVisited, CodeLoop, CodeManyRedirect, CodeNoLocation,
	CodeBadLocation, CodeScheme, CodeNotPublic, CodeUserName, CodeDeadRedirect, CodeNotFinished, CodeConflict,
	CodeUnverified}

// Ending is why a chain of redirects did not end at a page: a code, and the arguments of its row.
type Ending struct {
	Code string
	Args []any
}

var endingCodes = map[egress.ChainEnd]string{
	egress.EndLoop: CodeLoop, egress.EndTooManyRedirects: CodeManyRedirect, egress.EndMissingLocation: CodeNoLocation,
	egress.EndInvalidLocation: CodeBadLocation, egress.EndUnsupportedScheme: CodeScheme, egress.EndBlocked: CodeNotPublic,
	egress.EndDeadline: CodeNotFinished,
}

// BadEnd returns the ending of a chain of at most limit redirects that did not end at a page.
func BadEnd(chain egress.Chain, limit int) Ending {
	last := chain.Hops[len(chain.Hops)-1]
	host := Place(last.URL)
	switch {
	case chain.Limited() != nil:
		return Ending{CodeNotVisited, []any{FaultSentence(chain.Limited())}}
	case EndsAtUserName(chain):
		return Ending{CodeUserName, []any{host}}
	case egress.KeyTooLong(last.Err):
		return Ending{CodeUnverified, []any{host, certs.Clause(certs.DefectLongKey)}}
	case len(chain.Hops) == 1 && last.Err != nil:
		return failed(host, last.Err)
	case chain.End == egress.EndUnreachable:
		return Ending{CodeDeadRedirect, []any{Place(chain.Hops[0].URL), FaultSentence(last.Err)}}
	case chain.End == egress.EndInvalidLocation && len(last.Response.Locations()) > 1:
		return Ending{CodeConflict, []any{host}}
	case chain.End == egress.EndBlocked || chain.End == egress.EndLoop || chain.End == egress.EndTooManyRedirects:
		host = Place(chain.Hops[0].URL)
	}
	return Ending{endingCodes[chain.End], []any{host, limit, egress.AsBrowsersDo(chain.Err)}}
}

// failed is the ending of a chain whose first request failed.
func failed(host string, err error) Ending {
	if egress.ConnectTimedOut(err) {
		return Ending{CodeNoConnection, []any{host, ConnectSeconds}}
	}
	return Ending{CodeNoAnswer, []any{FaultSentence(err)}}
}

// EndsAtUserName reports whether a chain was not followed for the user information in a Location, whatever its host.
func EndsAtUserName(chain egress.Chain) bool {
	location, is := errors.AsType[*target.LocationError](chain.Err)
	return is && location.Problem == target.LocationCredentials
}

// StatusCode is the code of an answer's status, empty under 400. Statuses that servers send to automated checks alone
// say less about the page.
func StatusCode(status int) string {
	switch {
	case status >= 500:
		return CodeServerError
	case slices.Contains([]int{401, 403, 405, 406, 407, 429, 451}, status):
		return CodeRefused
	case status >= 400:
		return CodeClientError
	}
	return ""
}

// Answered is a status with the server's own phrase.
func Answered(status int, phrase string) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + phrase)
}

// Place is the host of a URL, with its port where that is not the default of the scheme.
func Place(u target.URL) string {
	host := u.Host().Short()
	if addr := u.Host().Addr(); addr.IsValid() {
		host = u.Host().Authority()
	}
	if u.Scheme() == "https" && u.Port() == 443 || u.Scheme() == "http" && u.Port() == 80 {
		return host
	}
	return host + ":" + strconv.Itoa(int(u.Port()))
}

// Certificate is a certificate of a chain that is not known to be valid.
type Certificate struct {
	Host    string // as Place
	Subject string // of its finding
	Clause  string // what is wrong, as the end of a sentence
	// NotVerified is set where this service could not verify it, which is no fault of the server.
	NotVerified bool
}

// Finding is the finding of the certificate.
func (c Certificate) Finding(catalogue finding.Catalogue) finding.Finding {
	code := CodeCertificate
	if c.NotVerified {
		code = CodeUnverified
	}
	return catalogue.Find(code, c.Host, c.Clause).About(c.Subject)
}

// CheckCertificate returns the certificate of an answer where it is not known to be valid, else nil.
func CheckCertificate(r *egress.Response) *Certificate {
	if r == nil || r.TLS == nil || r.TLS.Verdict.Authorized {
		return nil
	}
	verdict := r.TLS.Verdict
	if verdict.NotVerified() {
		return newCertificate(r.URL, certs.Clause(verdict.Defects[0]), true)
	}
	return newCertificate(r.URL, certs.Clause(verdict.Refusal()), false)
}

func newCertificate(u target.URL, clause string, notVerified bool) *Certificate {
	return &Certificate{
		Host: Place(u), Subject: CertificateSubject(u.Host().Authority(), u.Port()), Clause: clause, NotVerified: notVerified,
	}
}

// CertificateRefused reports whether clients refuse the certificate of an answer.
func CertificateRefused(r *egress.Response) bool {
	c := CheckCertificate(r)
	return c != nil && !c.NotVerified
}

// Certificates are those of a chain that are not known to be valid, each host's once.
func Certificates(chains ...egress.Chain) []Certificate {
	var list []Certificate
	for _, chain := range chains {
		for _, hop := range chain.Hops {
			c := CheckCertificate(hop.Response)
			if egress.KeyTooLong(hop.Err) {
				c = newCertificate(hop.URL, certs.Clause(certs.DefectLongKey), true)
			}
			if c != nil && !slices.Contains(list, *c) {
				list = append(list, *c)
			}
		}
	}
	return list
}

// ShortHelloHosts are the hosts of chains whose servers answer short ClientHellos alone, each once.
func ShortHelloHosts(chains ...egress.Chain) []string {
	var hosts []string
	for _, chain := range chains {
		for _, hop := range chain.Hops {
			if hop.Response == nil || !hop.Response.HelloTooLong {
				continue
			}
			if host := Place(hop.URL); !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
	}
	return hosts
}

// HelloFindings are the findings of ShortHelloHosts.
func HelloFindings(catalogue finding.Catalogue, hosts []string) []finding.Finding {
	findings := make([]finding.Finding, 0, len(hosts))
	for _, host := range hosts {
		findings = append(findings, catalogue.Find(CodeHello, host))
	}
	return findings
}

// Duration is a time in milliseconds for a sentence: 12.3 ms, 340 ms, 3.0 s.
func Duration(ms float64) string {
	switch {
	case ms >= 999.5:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}

// Slow reports whether an answer took so long that every tool warns of it. delay is the time in which this service
// waited for the processor, which is not the site's.
func Slow(ms float64, delay time.Duration) bool { return ms-format.Milliseconds(delay) >= SlowMs }

// DelayOf returns how long this service waited for the processor during the requests of a chain.
func DelayOf(chain egress.Chain) (sum time.Duration) {
	for _, hop := range chain.Hops {
		if hop.Response != nil {
			sum += hop.Response.Timings.Delay
		}
	}
	return sum
}
