package sslchecker

import (
	"context"
	"crypto/x509"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// The kinds of certificates that a server may have beside the one that it gives this service.
const (
	kindRSA   = "rsa"
	kindECDSA = "ecdsa"
	kindNoSNI = "noSni" // for clients that name no host
)

// otherCertificate is one that the server gives to other clients.
type otherCertificate struct {
	Kind               string       `json:"kind" wire:"enum=rsa|ecdsa|noSni"`
	Authorized         bool         `json:"authorized"`
	AuthorizationError *string      `json:"authorizationError"`
	Certificate        chainElement `json:"certificate"`
	notVerified        bool
}

// Enums implements decode.Enumerated.
func (otherCertificate) Enums() map[string][]string {
	return map[string][]string{"authorizationError": certs.Codes()}
}

// maxOthers is how many handshakes are made for other certificates.
const maxOthers = 2

// others requests the certificate of the other kind, unless the scan shows that there is none, and that of clients
// without a server name, one after another. cut reports that one could not be requested.
func (i *inspection) others(ctx context.Context, v *attempt, known probed) (list []otherCertificate, cut bool) {
	list = []otherCertificate{}
	if v.helloTooLong {
		return list, true // the hellos would be too long
	}
	shown := []*x509.Certificate{v.seen.state.PeerCertificates[0]}
	for _, kind := range i.otherKinds(v, known) {
		left := i.timeLeft(ctx)
		if left <= 0 {
			return list, true
		}
		var hello tlsscan.Hello
		if kind != kindNoSNI {
			hello = tlsscan.Hello{ServerName: i.to.Host.Name(), Authentication: strings.ToUpper(kind)}
		}
		// What fails here is a server that has none.
		again := attempt{address: v.address, until: time.Now().Add(left), dialogues: &tally{}}
		seen, err := i.converse(ctx, &again, i.reading(hello))
		if err != nil || slices.ContainsFunc(shown, seen.state.PeerCertificates[0].Equal) {
			continue
		}
		shown = append(shown, seen.state.PeerCertificates[0])
		list = append(list, i.describeOther(ctx, kind, seen))
	}
	return list, false
}

func (i *inspection) describeOther(ctx context.Context, kind string, seen observation) otherCertificate {
	sent := seen.state.PeerCertificates
	verdict := webview.Judged(i.certs.CheckIn(ctx, sent, i.to.Host.String(), exchangeOf(seen)))
	return otherCertificate{
		Kind: kind, Authorized: verdict.Authorized, AuthorizationError: format.TextOrNull(verdict.Code),
		Certificate: describeElement(sent[0], i.now()), notVerified: verdict.NotVerified(),
	}
}

// otherKinds returns the kinds worth requesting, none on ports of mail.
func (i *inspection) otherKinds(v *attempt, known probed) []string {
	if isMail(i.to.Port) {
		return nil
	}
	var kinds []string
	keyType, _ := describeKey(v.seen.state.PeerCertificates[0])
	if other := otherKind[keyType]; other != "" && known.mayHave(other) {
		kinds = append(kinds, other)
	}
	if !i.to.Host.IsAddr() {
		kinds = append(kinds, kindNoSNI)
	}
	return kinds
}

// otherKind is what a server with a key of a kind may have besides.
var otherKind = map[string]string{"RSA": kindECDSA, "ECDSA": kindRSA, "Ed25519": kindRSA}

// mayHave reports whether a server may have a certificate of this kind: those of TLS 1.3 do not show in its suites,
// which then says nothing where it has no older version.
func (p probed) mayHave(kind string) bool {
	var older bool
	for _, s := range p.Suites {
		if s.Version == tlsscan.TLS13 {
			continue
		}
		older = true
		if suite, _ := tlsscan.SuiteByID(s.ID); strings.EqualFold(suite.Authentication, kind) {
			return true
		}
	}
	return !older || !p.Complete
}

// otherFindings report what is wrong with them. A certificate for clients that name no host is nearly always for
// another host, which is how it should be.
func otherFindings(others []otherCertificate) []finding.Finding {
	draft := rows.Draft()
	for _, o := range others {
		kind := finding.Args{"kind": strings.ToUpper(o.Kind)}
		switch {
		case o.Kind == kindNoSNI:
			draft.Add("OTHER_CERTIFICATE_WITHOUT_SNI", "", o.problem())
		case o.notVerified:
			draft.Add("OTHER_CERTIFICATE_NOT_VERIFIED", "", kind)
		case !o.Authorized:
			draft.Add("OTHER_CERTIFICATE_REFUSED", "", o.problem().With(kind))
		}
	}
	return draft.Findings()
}

// problem is why clients refuse it, or that it was not verified; nothing if they accept it.
func (o otherCertificate) problem() finding.Args {
	switch {
	case o.Authorized:
		return nil
	case o.notVerified:
		return finding.Args{"problem": "OTHER_NOT_VERIFIED"}
	case *o.AuthorizationError == certs.CodeExpired && o.Certificate.DaysRemaining < 0:
		return finding.Args{"problem": "OTHER_EXPIRED", "expired": dayOf(o.Certificate.ValidTo)}
	}
	if problem := otherProblems[*o.AuthorizationError]; problem != "" {
		return finding.Args{"problem": problem}
	}
	return finding.Args{"problem": "OTHER_NOT_ACCEPTED", "defect": *o.AuthorizationError}
}

var otherProblems = map[string]string{
	certs.CodeNotYetValid: "OTHER_NOT_YET_VALID", certs.CodeNameMismatch: "OTHER_OF_OTHER_HOST",
	certs.CodeSelfSigned: "OTHER_SELF_SIGNED",
}
