package sslchecker

import "diagnostics/gateway/internal/text/bound"

// The shares of an answer, in bytes of JSON. A handshake carries up to 128 KiB of certificates, and their texts may be
// of any characters.
const (
	maxAltNames = 256 << 10
	maxAltIPs   = 64 << 10
	maxAltName  = 1 << 10
	maxURLs     = 16 << 10 // of one kind
	maxURL      = 4 << 10
	maxSubject  = 4 << 10 // and of an issuer
	maxSerial   = 256
	maxIssues   = 64 << 10 // of the answer, and half as much of each endpoint
)

// bound cuts what is too long for an answer, once all of it was judged.
func (r *Result) bound() {
	leaf := &r.Certificate
	leaf.bound(&r.Truncated)
	names := &leaf.SubjectAltNames
	names.DNS = bound.Texts(names.DNS, maxAltName, maxAltNames, &names.Truncated, &r.Truncated)
	names.IP = bound.List(names.IP, maxAltIPs, &names.Truncated, &r.Truncated)
	leaf.OCSPURLs = bound.Texts(leaf.OCSPURLs, maxURL, maxURLs, &leaf.Truncated, &r.Truncated)
	leaf.CRLURLs = bound.Texts(leaf.CRLURLs, maxURL, maxURLs, &leaf.Truncated, &r.Truncated)
	for i := range r.Chain {
		r.Chain[i].bound(&r.Truncated)
	}
	for i := range r.OtherCertificates {
		r.OtherCertificates[i].Certificate.bound(&r.Truncated)
	}
	r.Issues = bound.List(r.Issues, maxIssues, &r.Truncated)
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		e.Issues = bound.List(e.Issues, maxIssues/2, &e.Truncated, &r.Truncated)
	}
}

func (c *chainElement) bound(cut *bool) {
	c.Subject = bound.Text(c.Subject, maxSubject, &c.Truncated, cut)
	c.Issuer = bound.Text(c.Issuer, maxSubject, &c.Truncated, cut)
	c.SerialNumber = bound.Text(c.SerialNumber, maxSerial, &c.Truncated, cut)
}
