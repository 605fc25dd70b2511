package dnsresolvercheck

import (
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress/dnsclient"
)

// The causes for which resolvers say that they fail (RFC 8914).
const (
	failureDNSSEC      = "dnssec"
	failureUnreachable = "unreachable"
)

// Extended errors of RFC 8914. From DNSSEC Bogus to NSEC Missing they give why a validation fails.
const (
	dnssecBogus      = 6
	nsecMissing      = 12
	noReachable      = 22
	networkError     = 23
	unspecificDNSSEC = dnssecBogus
)

// failureWords are in place of the registry's names, which say little to who has to mend it.
var failureWords = map[uint16]string{
	6:  "signatures do not verify",
	7:  "signature expired",
	8:  "signature not yet valid",
	9:  "no DNSKEY matches the DS record",
	10: "signatures are missing",
	11: "no DNSKEY is a zone key",
	12: "the proof that something is absent is missing",
	22: "none of them answers",
	23: "network error",
}

// failure is the cause that a resolver gives for its SERVFAIL, and empty where it gives none. One that reached no
// server at all says of the signatures only that it could not get them; one that failed to reach a single server may
// still have found them bad.
func (a resolverAnswer) failure() string {
	has := func(first, last uint16) bool {
		return slices.ContainsFunc(a.ExtendedErrors, func(e dnsclient.ExtendedError) bool {
			return e.Code >= first && e.Code <= last
		})
	}
	switch {
	case a.ErrorCode == nil || *a.ErrorCode != dnsclient.CodeServFail:
		return ""
	case has(noReachable, noReachable):
		return failureUnreachable
	case has(dnssecBogus, nsecMissing):
		return failureDNSSEC
	case has(networkError, networkError):
		return failureUnreachable
	}
	return ""
}

func failingFor(answers []resolverAnswer, cause string) []resolverAnswer {
	return which(answers, func(a resolverAnswer) bool { return a.failure() == cause })
}

// causeOf is the cause to report of all: bad signatures before servers out of reach.
func causeOf(answers []resolverAnswer) *string {
	for _, cause := range []string{failureDNSSEC, failureUnreachable} {
		if len(failingFor(answers, cause)) > 0 {
			return &cause
		}
	}
	return nil
}

// reasons says with which extended errors the resolvers explain a cause, each once.
func reasons(failing []resolverAnswer, cause string) string {
	var codes []uint16
	for _, answer := range failing {
		for _, e := range answer.ExtendedErrors {
			if explains(e.Code, cause) {
				codes = append(codes, e.Code)
			}
		}
	}
	slices.Sort(codes)
	codes = slices.Compact(codes)
	if len(codes) > 1 && codes[0] == unspecificDNSSEC {
		codes = codes[1:] // which says no more than the others
	}
	var words []string
	for _, code := range codes {
		words = append(words, fmt.Sprintf("%s (EDE %d)", failureWords[code], code))
	}
	return strings.Join(words, ", ")
}

func explains(code uint16, cause string) bool {
	if cause == failureDNSSEC {
		return code >= dnssecBogus && code <= nsecMissing
	}
	return code == noReachable || code == networkError
}

// resolverFailures say what each code means of a resolver.
var resolverFailures = map[string]string{
	dnsclient.CodeServFail:    "failed to resolve the name (SERVFAIL)",
	dnsclient.CodeRefused:     "refused the query (REFUSED)",
	dnsclient.CodeFormErr:     "could not understand the query (FORMERR)",
	dnsclient.CodeNotImp:      "does not support this kind of query (NOTIMP)",
	dnsclient.CodeBadResp:     "gave an invalid answer",
	dnsclient.CodeTimeout:     "did not answer in time",
	dnsclient.CodeConnRefused: "could not be reached",
}

// failures are sentences on why resolvers failed.
func (c query) failures(answers []resolverAnswer) []string {
	var sentences []string
	for _, cause := range []string{failureDNSSEC, failureUnreachable} {
		if failing := failingFor(answers, cause); len(failing) > 0 {
			sentences = append(sentences, c.failureSentence(cause, failing, answers))
		}
	}
	for _, answer := range answers {
		if !answer.conclusive() && answer.Reason == nil && answer.failure() == "" {
			sentences = append(sentences, fmt.Sprintf("%s %s.", answer.Name, resolverFailures[*answer.ErrorCode]))
		}
	}
	return sentences
}

func (c query) failureSentence(cause string, failing, answers []resolverAnswer) string {
	everybody := len(failing) == len(answers)
	why := reasons(failing, cause)
	switch {
	case cause == failureUnreachable && everybody:
		return fmt.Sprintf("No resolver can reach the name servers of %s: %s.", c.domain, why)
	case cause == failureUnreachable:
		return fmt.Sprintf("%s cannot reach the name servers of %s: %s.", listed(failing), c.domain, why)
	case everybody:
		return fmt.Sprintf("%s fails DNSSEC validation: %s. None of the four resolvers returns its records.", c.domain, why)
	}
	return fmt.Sprintf("%s fails DNSSEC validation at %s: %s%s.", c.domain, listed(failing), why, validation(answers))
}

// validation ends a sentence on bad signatures with what those did about them that answered all the same.
func validation(answers []resolverAnswer) string {
	validated := which(answers, func(a resolverAnswer) bool { return a.conclusive() && a.Authenticated })
	not := which(answers, func(a resolverAnswer) bool { return a.conclusive() && !a.Authenticated })
	return clause(validated, "; %s gave a validated answer") + clause(not, "; %s answered without validation")
}

// clause is empty where the list is.
func clause(of []resolverAnswer, format string) string {
	if len(of) == 0 {
		return ""
	}
	return fmt.Sprintf(format, listed(of))
}
