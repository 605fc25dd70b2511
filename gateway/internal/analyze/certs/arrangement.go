package certs

import (
	"crypto/x509"
	"slices"
)

// Arrangement describes how a server sent its certificates, as far as they are judged. Each fact is set only where
// it is sure.
type Arrangement struct {
	// Repeated reports that a certificate came more than once.
	Repeated bool
	// OutOfOrder reports that a certificate of the chain came before all that it issued.
	OutOfOrder bool
	// Root reports that the trusted root, which clients have, came too.
	Root bool
	// Foreign are those that issued nothing of the chain.
	Foreign []*x509.Certificate
	// Wrong are the intermediates that came where none of them issued the leaf.
	Wrong []*x509.Certificate
}

// arrange looks at the certificates as they came; sent are those of them that are judged, cut that there are others.
func arrange(came, sent []*x509.Certificate, cut bool, f found, w *work) Arrangement {
	a := Arrangement{Repeated: repeats(came)}
	if w.spent || len(f.defects) > 0 {
		return a // the issuers are not known
	}
	top := f.chain[len(f.chain)-1]
	if len(f.chain) == 1 && !f.rooted && !w.issued(top, top) {
		a.Wrong = intermediates(sent[1:], w)
		return a
	}
	part := partOfChain(sent, w)
	for i, cert := range sent[1:] {
		if !part[cert] {
			continue
		}
		before := func(below *x509.Certificate) bool { return part[below] && w.issued(cert, below) }
		a.OutOfOrder = a.OutOfOrder || !slices.ContainsFunc(sent[:i+1], before)
		a.Root = a.Root || f.rooted && identity(cert) == identity(top) && w.issued(cert, cert)
	}
	// Above a gap, and among those that are not judged, anything may belong to the chain.
	if !cut && (f.rooted || w.issued(top, top)) {
		a.Foreign = slices.DeleteFunc(slices.Clone(sent), func(cert *x509.Certificate) bool { return part[cert] })
	}
	if w.spent {
		return Arrangement{Repeated: a.Repeated}
	}
	return a
}

// repeats reports whether one of the certificates that count came twice.
func repeats(came []*x509.Certificate) bool {
	came = came[:min(len(came), MaxCertificates)]
	for i, cert := range came {
		if cert != nil && slices.ContainsFunc(came[:i], cert.Equal) {
			return true
		}
	}
	return false
}

// intermediates are the authorities that need one above them.
func intermediates(certs []*x509.Certificate, w *work) []*x509.Certificate {
	return slices.DeleteFunc(slices.Clone(certs), func(c *x509.Certificate) bool { return !c.IsCA || w.issued(c, c) })
}

// partOfChain are the leaf, those that issued it, those that issued these, and so on.
func partOfChain(sent []*x509.Certificate, w *work) map[*x509.Certificate]bool {
	part := map[*x509.Certificate]bool{sent[0]: true}
	for grown := true; grown; {
		grown = false
		for _, cert := range sent[1:] {
			issuedOne := func(below *x509.Certificate) bool { return part[below] && w.issued(cert, below) }
			if !part[cert] && slices.ContainsFunc(sent, issuedOne) {
				part[cert], grown = true, true
			}
		}
	}
	return part
}
