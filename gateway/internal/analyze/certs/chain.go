package certs

// The chain is verified with the validity of the sent certificates lifted: copies of them that hold at any time go
// through x509.Verify, whose signatures cover the raw bytes and so still count. What was lifted is judged afterwards,
// on the originals. That way an intermediate that expired before its leaf was issued hides no more than an expired leaf
// does.

import (
	"crypto/x509"
	"errors"
	"slices"
	"time"
)

// found is the chain that a client would end up with, and what is wrong with it besides time and name.
type found struct {
	chain   []*x509.Certificate
	codes   []string
	defects []string
	rooted  bool
}

// rootedChain is a chain that leads to a trusted root, with the codes for which it is refused all the same.
func rootedChain(chain []*x509.Certificate, codes ...string) found {
	return found{chain: chain, codes: codes, rooted: true}
}

// untrusted is a chain that leads to no trusted root.
func untrusted(chain []*x509.Certificate, code string) found {
	return found{chain: chain, codes: []string{code}}
}

// unverified is a chain of which it is not known where it leads.
func unverified(chain []*x509.Certificate, defect string) found {
	return found{chain: chain, codes: []string{CodeNoLocalIssuer}, defects: []string{defect}}
}

// findChain looks for the way from the leaf to a trusted root.
func (c Checker) findChain(sent []*x509.Certificate, now time.Time, w *work) found {
	path := sentPath(sent, now, w)
	if slices.ContainsFunc(sent, LongKey) {
		return unverified(path, DefectLongKey)
	}
	f := c.search(path, sent, now, w)
	if w.spent && !f.rooted {
		return unverified(path, DefectCostly)
	}
	return f
}

func (c Checker) search(path, sent []*x509.Certificate, now time.Time, w *work) found {
	v := c.relax(sent, w)
	distrusted := false
	for _, at := range rootTimes(path, now) {
		chains, err := v.verify(at, x509.ExtKeyUsageAny)
		if constraintViolated(err) {
			return rootedChain(path, CodeNotPermitted)
		}
		if err != nil {
			distrusted = distrusted || errors.Is(err, errDistrusted)
			continue
		}
		var codes []string
		switch fit, err := v.verify(at, x509.ExtKeyUsageServerAuth); {
		case err == nil:
			chains = fit
		case errors.Is(err, errCostly):
			return found{}
		default:
			codes = append(codes, CodePurpose)
		}
		chain := leastTroubled(chains, now)
		if slices.ContainsFunc(chain, hasUnhandledExtension) {
			codes = append(codes, CodeCriticalExtension)
		}
		return rootedChain(chain, codes...)
	}
	if w.spent {
		return found{}
	}
	if !distrusted {
		if f, is := c.brokenLink(path, now, w); is {
			return f
		}
	}
	return leadsNowhere(path, w)
}

// rootTimes are the moments to try: now, and where no root holds now, the ends of the leaf's validity and of the last
// sent certificate's. Only roots are bound to them.
func rootTimes(path []*x509.Certificate, now time.Time) []time.Time {
	leaf, top := path[0], path[len(path)-1]
	times := []time.Time{now, leaf.NotBefore, leaf.NotAfter}
	if top != leaf {
		times = append(times, top.NotBefore, top.NotAfter)
	}
	return times
}

// relaxed is a leaf and its intermediates without time limits.
type relaxed struct {
	work          *work
	sent          []*x509.Certificate
	trusted       Checker
	leaf          *x509.Certificate
	intermediates *x509.CertPool
	original      map[*x509.Certificate]*x509.Certificate
}

func (c Checker) relax(sent []*x509.Certificate, w *work) relaxed {
	r := relaxed{
		work:          w,
		sent:          sent,
		trusted:       c.trusting(),
		intermediates: x509.NewCertPool(),
		original:      make(map[*x509.Certificate]*x509.Certificate, len(sent)),
	}
	for i, cert := range sent {
		lifted := *cert
		lifted.NotBefore = time.Time{}
		lifted.NotAfter = time.Unix(1<<40, 0)
		lifted.UnhandledCriticalExtensions = nil
		r.original[&lifted] = cert
		if i == 0 {
			r.leaf = &lifted
			continue
		}
		r.intermediates.AddCert(&lifted)
	}
	return r
}

// errCostly is a verification for which there was not enough work left.
var errCostly = errors.New("certs: the chain costs too much to verify")

// errDistrusted is a root that is trusted, but not for this chain.
var errDistrusted = errors.New("certs: the root is not trusted for certificates of this time")

// verify gives the chains to a root that holds at the moment, with the originals in place of the copies.
func (r relaxed) verify(at time.Time, usage x509.ExtKeyUsage) ([][]*x509.Certificate, error) {
	if !r.work.takeVerify(r.sent) {
		return nil, errCostly
	}
	chains, err := r.leaf.Verify(x509.VerifyOptions{
		Roots:         r.trusted.Roots,
		Intermediates: r.intermediates,
		CurrentTime:   at,
		KeyUsages:     []x509.ExtKeyUsage{usage},
	})
	for _, chain := range chains {
		for i, cert := range chain {
			if o, ok := r.original[cert]; ok {
				chain[i] = o
			}
		}
	}
	if err != nil || r.trusted.constraint == nil {
		return chains, err
	}
	// On the originals: the copies have no time from which they hold.
	chains = slices.DeleteFunc(chains, func(chain []*x509.Certificate) bool { return r.trusted.constraint(chain) != nil })
	if len(chains) == 0 {
		return nil, errDistrusted
	}
	return chains, nil
}

func constraintViolated(err error) bool {
	invalid, is := errors.AsType[x509.CertificateInvalidError](err)
	return is && invalid.Reason == x509.CANotAuthorizedForThisName
}

func hasUnhandledExtension(cert *x509.Certificate) bool {
	return len(cert.UnhandledCriticalExtensions) > 0
}

// leastTroubled gives the chain with which a client fares best: of a cross-signed certificate's ways the one that holds
// now.
func leastTroubled(chains [][]*x509.Certificate, now time.Time) []*x509.Certificate {
	trouble := func(chain []*x509.Certificate) int {
		n := len(timeCodes(chain, now))
		if slices.ContainsFunc(chain, hasUnhandledExtension) {
			n++
		}
		return n
	}
	return slices.MinFunc(chains, func(a, b []*x509.Certificate) int { return trouble(a) - trouble(b) })
}
