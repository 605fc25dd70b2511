package webview

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
)

// Ending is why a chain of redirects did not end at a page: a code of FailureRows, and the arguments of its row.
type Ending struct {
	Code string
	Args finding.Args
}

// SlowMs is the response time in milliseconds from which an answer is slow, in every tool that measures one.
const SlowMs = 2000

var endingCodes = map[egress.ChainEnd]string{
	egress.EndLoop: CodeLoop, egress.EndTooManyRedirects: CodeManyRedirect, egress.EndMissingLocation: CodeNoLocation,
	egress.EndInvalidLocation: CodeBadLocation, egress.EndUnsupportedScheme: CodeScheme, egress.EndBlocked: CodeNotPublic,
}

// BadEnd returns the ending of a chain of at most limit redirects that did not end at a page.
func BadEnd(chain egress.Chain, limit int) Ending {
	last := chain.Hops[len(chain.Hops)-1]
	host := finding.Args{"host": Place(last.URL)}
	switch {
	case chain.Limited() != nil:
		return Ending{CodeNotVisited, because(chain.Limited())}
	case EndsAtUserName(chain):
		return Ending{CodeUserName, host}
	case egress.KeyTooLong(last.Err):
		return Ending{CodeUnverified, host.With(finding.Args{"defect": certs.DefectLongKey})}
	case fault.BeyondBound(last.Err):
		return Ending{CodeNotRead, finding.Args{"of": host["host"]}.With(because(last.Err))}
	case len(chain.Hops) == 1 && last.Err != nil:
		return failed(host, last.Err)
	case chain.End == egress.EndUnreachable:
		return Ending{CodeDeadRedirect, finding.Args{"of": Place(chain.Hops[0].URL)}.With(because(last.Err))}
	case chain.End == egress.EndInvalidLocation && len(last.Response.Locations()) > 1:
		return Ending{CodeConflict, host}
	case chain.End == egress.EndBlocked || chain.End == egress.EndLoop || chain.End == egress.EndTooManyRedirects:
		host = finding.Args{"host": Place(chain.Hops[0].URL)}
	case chain.End == egress.EndDeadline:
		return Ending{CodeNotFinished, nil}
	}
	switch code := endingCodes[chain.End]; code {
	case CodeManyRedirect:
		return Ending{code, host.With(finding.Args{"limit": limit})}
	case CodeBadLocation, CodeNotPublic:
		return Ending{code, host.With(finding.Args{"followed": egress.BrowsersFollow(chain.Err)})}
	default:
		return Ending{code, host}
	}
}

// failed is the ending of a chain whose first request failed.
func failed(host finding.Args, err error) Ending {
	if egress.ConnectTimedOut(err) {
		return Ending{CodeNoConnection, host.With(finding.Args{"seconds": int(egress.ConnectTimeout.Seconds())})}
	}
	if code, args := fault.Reason(err); fault.Rows[code].Severity != "" {
		return Ending{code, args}
	}
	return Ending{CodeNoAnswer, finding.Args{"of": host["host"]}.With(because(err))}
}

// because returns the arguments of a row that goes on with the sentence of a failure.
func because(err error) finding.Args {
	code, args := Reason(err)
	return finding.Args{"reason": code}.With(args)
}

// Reason returns the row of a failure and its arguments. A failure of an unknown kind has a row too.
func Reason(err error) (code string, args finding.Args) {
	if code, args := fault.Reason(err); code != "" {
		return code, args
	}
	return "REQUEST_FAILED", nil
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

// Failure returns the arguments of a row of StatusCode about an answer: its status with the server's own phrase, and
// what the status means.
func Failure(status int, phrase string) finding.Args {
	args := finding.Args{"answer": Answered(status, phrase)}
	if status == http.StatusUnauthorized {
		args["signIn"] = true
	}
	if code, explained := meanings[status]; explained {
		args["means"] = code
	}
	return args
}

// meanings are the codes of StatusRows, by the status.
var meanings = map[int]string{
	401: "STATUS_401", 403: "STATUS_403", 407: "STATUS_407", 410: "STATUS_410", 421: "STATUS_421", 429: "STATUS_429",
	451: "STATUS_451", 502: "STATUS_502", 503: "STATUS_503", 504: "STATUS_504", 520: "STATUS_520", 521: "STATUS_521",
	522: "STATUS_522", 523: "STATUS_523", 524: "STATUS_524", 525: "STATUS_525", 526: "STATUS_526",
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
	Defect  string // the code of what is wrong
	// NotVerified is set if this service could not verify it, which is no fault of the server.
	NotVerified bool
}

// Report reports the certificate.
func (c Certificate) Report(report *finding.Draft) {
	code := CodeCertificate
	if c.NotVerified {
		code = CodeUnverified
	}
	report.Add(code, c.Subject, finding.Args{"host": c.Host, "defect": c.Defect})
}

// CheckCertificate returns the certificate of an answer if it is not known to be valid, else nil.
func CheckCertificate(r *egress.Response) *Certificate {
	if r == nil || r.TLS == nil || r.TLS.Verdict.Authorized {
		return nil
	}
	verdict := Judged(r.TLS.Verdict)
	if verdict.NotVerified() {
		return newCertificate(r.URL, verdict.Defects[0], true)
	}
	return newCertificate(r.URL, verdict.Refusal(), false)
}

// Judged returns a verdict within this service's bounds: a missing issuer may be among the certificates that came and
// were not judged.
func Judged(v certs.Verdict) certs.Verdict {
	if v.Cut && (v.Code == certs.CodeUnverifiableLeaf || v.Code == certs.CodeNoLocalIssuer && len(v.Defects) == 0) {
		return v.Unverified(certs.DefectUnfinished)
	}
	return v
}

func newCertificate(u target.URL, defect string, notVerified bool) *Certificate {
	return &Certificate{
		Host: Place(u), Subject: CertificateSubject(u.Host().Authority(), u.Port()), Defect: defect, NotVerified: notVerified,
	}
}

// repairs are the clauses on what to do about a defect of a certificate.
var repairs = map[string]string{
	certs.CodeExpired: repairExpired, certs.CodeNotYetValid: repairEarly, certs.CodeNameMismatch: repairName,
	certs.CodeUnverifiableLeaf: repairChain,
}

// Refused returns the arguments of a conclusion about a certificate that clients refuse: its defect and the repair.
func Refused(defect string) finding.Args {
	return finding.Args{"defect": defect, "repair": cmp.Or(repairs[defect], repairOtherwise)}
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
				c = newCertificate(hop.URL, certs.DefectLongKey, true)
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
