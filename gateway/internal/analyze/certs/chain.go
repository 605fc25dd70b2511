package certs

import (
	"bytes"
	"crypto/x509"
	"errors"
	"slices"
	"time"
)

// The chain is verified with the validity of the sent certificates lifted: copies of them that hold at any time go
// through x509.Verify, whose signatures cover the raw bytes and so still count. What was lifted is judged afterwards,
// on the originals. That way an intermediate that expired before its leaf was issued hides no more than an expired leaf
// does.

// found is the chain that a client would end up with, and what is wrong with it besides time and name.
type found struct {
	chain   []*x509.Certificate
	codes   []string
	defects []string
	rooted  bool
	// ends is when the last of all chains to a trusted root ends.
	ends time.Time
}

// rootedChain is a chain that leads to a trusted root, with the codes for which it is refused all the same.
func rootedChain(chain []*x509.Certificate, codes ...string) found {
	return found{chain: chain, codes: codes, rooted: true}
}

// untrusted is a chain that leads to no trusted root.
func untrusted(chain []*x509.Certificate, code string) found {
	return found{chain: chain, codes: []string{code}}
}

// unverified is a chain whose root is not known.
func unverified(chain []*x509.Certificate, defect string) found {
	return found{chain: chain, codes: []string{CodeNoLocalIssuer}, defects: []string{defect}}
}

// findChain looks for a chain from the leaf to a trusted root.
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
		chain := bestChain(chains, now)
		if slices.ContainsFunc(chain, hasUnhandledExtension) {
			codes = append(codes, CodeCriticalExtension)
		}
		f := rootedChain(chain, codes...)
		f.ends = lastEnd(chains)
		return f
	}
	if w.spent {
		return found{}
	}
	if !distrusted {
		if f, is := c.brokenLink(path, now, w); is {
			return f
		}
	}
	return noTrustedRoot(path, w)
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

// bestChain returns the chain with the fewest faults now: of a cross-signed certificate's chains the one that holds
// now.
func bestChain(chains [][]*x509.Certificate, now time.Time) []*x509.Certificate {
	trouble := func(chain []*x509.Certificate) int {
		n := len(timeCodes(chain, now))
		if slices.ContainsFunc(chain, hasUnhandledExtension) {
			n++
		}
		return n
	}
	return slices.MinFunc(chains, func(a, b []*x509.Certificate) int { return trouble(a) - trouble(b) })
}

// lastEnd is when the first certificate of a chain ends, of the chain that holds longest.
func lastEnd(chains [][]*x509.Certificate) (last time.Time) {
	for _, chain := range chains {
		first := slices.MinFunc(chain, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
		if first.NotAfter.After(last) {
			last = first.NotAfter
		}
	}
	return last
}

// maxLinkSearch is how many links of a path are looked at for the one for which it was refused.
const maxLinkSearch = 4

// sentPath follows the issuers among the sent certificates as far as they lead, whatever their order: at each step the
// first issuer that holds now, else the first issuer, as OpenSSL does.
func sentPath(sent []*x509.Certificate, now time.Time, w *work) []*x509.Certificate {
	path := []*x509.Certificate{sent[0]}
	for {
		top := path[len(path)-1]
		if w.issued(top, top) {
			return path
		}
		var next *x509.Certificate
		for _, candidate := range sent {
			if slices.Contains(path, candidate) || !w.issued(candidate, top) {
				continue
			}
			if len(timeCodes([]*x509.Certificate{candidate}, now)) == 0 {
				next = candidate
				break
			}
			if next == nil {
				next = candidate
			}
		}
		if next == nil {
			return path
		}
		path = append(path, next)
	}
}

// issued reports whether parent's name and key made the certificate, leaving aside whether it was allowed to. A
// signature that is not verified, since its algorithm is too old or its key too long, counts as made.
func issued(parent, cert *x509.Certificate) bool {
	if !mayHaveIssued(parent, cert) {
		return false
	}
	if LongKey(parent) {
		return true // by its names alone
	}
	err := parent.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature)
	_, insecure := errors.AsType[x509.InsecureAlgorithmError](err)
	return err == nil || insecure || errors.Is(err, x509.ErrUnsupportedAlgorithm)
}

// mayHaveIssued reports whether parent's name and key identifier are those that the certificate names.
func mayHaveIssued(parent, cert *x509.Certificate) bool {
	return bytes.Equal(parent.RawSubject, cert.RawIssuer) && (len(cert.AuthorityKeyId) == 0 ||
		len(parent.SubjectKeyId) == 0 || bytes.Equal(cert.AuthorityKeyId, parent.SubjectKeyId))
}

// noTrustedRoot returns the finding for a path that does not end at a trusted root.
func noTrustedRoot(path []*x509.Certificate, w *work) found {
	top := path[len(path)-1]
	switch {
	case w.issued(top, top) && len(path) == 1:
		return untrusted(path, CodeSelfSigned)
	case w.issued(top, top):
		return untrusted(path, CodeSelfSignedInChain)
	case len(path) == 1:
		return untrusted(path, CodeUnverifiableLeaf)
	}
	return untrusted(path, CodeNoLocalIssuer)
}

// brokenLink separates a complete chain refused for one of its links from one without a trusted root: some
// issuer in the path is itself trusted.
func (c Checker) brokenLink(path []*x509.Certificate, now time.Time, w *work) (found, bool) {
	for i := 1; i < len(path) && i <= maxLinkSearch; i++ {
		if _, err := c.relax(path[i:], w).verify(now, x509.ExtKeyUsageAny); err != nil {
			continue
		}
		below := path[:i+1]
		if slices.ContainsFunc(below[:i], unknownSignature) {
			return unverified(path, DefectUnfinished), true
		}
		return rootedChain(path, linkCode(below)), true
	}
	return found{}, false
}

// unknownSignature reports whether a signature is of a kind that cannot be verified here, such as Ed448's.
func unknownSignature(cert *x509.Certificate) bool {
	return cert.SignatureAlgorithm == x509.UnknownSignatureAlgorithm
}

// linkCode returns why a path whose last certificate is trusted was refused.
func linkCode(path []*x509.Certificate) string {
	for _, issuer := range path[1:] {
		if !issuer.BasicConstraintsValid || !issuer.IsCA ||
			issuer.KeyUsage != 0 && issuer.KeyUsage&x509.KeyUsageCertSign == 0 {
			return CodeInvalidCA
		}
	}
	if slices.ContainsFunc(path[:len(path)-1], WeakDigest) {
		return CodeWeakDigest
	}
	return CodePathLength
}

// WeakDigest reports whether the certificate is signed over MD2, MD5 or SHA-1.
func WeakDigest(cert *x509.Certificate) bool {
	return slices.Contains([]x509.SignatureAlgorithm{
		x509.MD2WithRSA, x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1, x509.ECDSAWithSHA1,
	}, cert.SignatureAlgorithm)
}
