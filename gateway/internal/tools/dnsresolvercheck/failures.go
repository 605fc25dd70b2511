package dnsresolvercheck

import (
	"fmt"
	"slices"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/tool/finding"
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

// failureArgs are the arguments of a failure: who fails, and the extended errors that explain it, each once.
func (c query) failureArgs(failing []resolverAnswer, cause string) finding.Args {
	var numbers []uint16
	for _, answer := range failing {
		for _, e := range answer.ExtendedErrors {
			if explains(e.Code, cause) {
				numbers = append(numbers, e.Code)
			}
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if len(numbers) > 1 && numbers[0] == unspecificDNSSEC {
		numbers = numbers[1:] // which says no more than the others
	}
	var codes []string
	for _, number := range numbers {
		codes = append(codes, fmt.Sprintf("EDE_%d", number))
	}
	args := finding.Args{"domain": c.domain.String(), "errors": codes}
	if len(failing) == len(publicResolvers) {
		return args.With(finding.Args{"all": true})
	}
	return args.With(finding.Args{"resolvers": listed(failing)})
}

func explains(code uint16, cause string) bool {
	if cause == failureDNSSEC {
		return code >= dnssecBogus && code <= nsecMissing
	}
	return code == noReachable || code == networkError
}

// failures say why resolvers failed.
func (c query) failures(answers []resolverAnswer) []sentence {
	var said []sentence
	for _, cause := range []string{failureDNSSEC, failureUnreachable} {
		if failing := failingFor(answers, cause); len(failing) > 0 {
			said = append(said, c.explain(cause, failing, answers))
		}
	}
	for _, answer := range answers {
		if args := answer.failed(); args != nil {
			said = append(said, sentence{codeResolverFailed, args})
		}
	}
	return said
}

// failed returns the arguments of a resolver that failed without saying why; nil if it did not.
func (a resolverAnswer) failed() finding.Args {
	if a.conclusive() || a.Reason != nil || a.failure() != "" {
		return nil
	}
	return finding.Args{"resolver": a.Name, "reason": *a.ErrorCode}
}

// explain says why the resolvers fail, and what those did about bad signatures that answered all the same.
func (c query) explain(cause string, failing, answers []resolverAnswer) sentence {
	args := c.failureArgs(failing, cause)
	_, all := args["all"]
	switch {
	case cause == failureUnreachable && all:
		delete(args, "all")
		return sentence{codeUnreachableByAll, args}
	case cause == failureUnreachable:
		return sentence{codeUnreachableBySome, args}
	}
	return sentence{codeDNSSECSummary, args.With(finding.Args{
		"validated":   namesOf(answers, func(a resolverAnswer) bool { return a.conclusive() && a.Authenticated }),
		"unvalidated": namesOf(answers, func(a resolverAnswer) bool { return a.conclusive() && !a.Authenticated }),
	})}
}
