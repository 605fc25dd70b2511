package dnsdelegation

import (
	"slices"
	"strings"
	"unicode"

	"diagnostics/gateway/internal/analyze/dnssec"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of findings about DNSSEC, beside one for each reason of package dnssec (codeOf).
const codeServerBogus = "DNSSEC_SERVER_BOGUS"

// codeOf is the code of the finding for a reason: "signatureExpired" is DNSSEC_SIGNATURE_EXPIRED.
func codeOf(code dnssec.Code) string {
	var s strings.Builder
	s.WriteString("DNSSEC_")
	before := rune('_')
	for _, r := range string(code) {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			s.WriteByte('_')
		}
		s.WriteRune(unicode.ToUpper(r))
		before = r
	}
	return s.String()
}

// dnssecEntries are the findings for the reasons, by their status. Their arguments are the zone, the name that was
// entered, and the reason as a sentence.
func dnssecEntries() map[string]finding.Entry {
	all := map[string]finding.Entry{codeServerBogus: {
		Severity: finding.Warn, Group: finding.Broken, Weight: 78,
		Message: "%[2]s at %[3]s gives answers of %[1]s that do not validate: %[4]s",
		Remedy:  "Check that the signed zone has reached this server.", Reference: rfc + "4035#section-5.3",
	}}
	for _, code := range dnssec.Codes() {
		e := entryOf(code)
		e.Remedy, e.Reference = remedies[code], referenceOf(code.RFC())
		all[codeOf(code)] = e
	}
	return all
}

// unverified are the reasons of this service's own bounds.
var unverified = []dnssec.Code{dnssec.SignatureBudget, dnssec.HashBudget}

func entryOf(code dnssec.Code) finding.Entry {
	switch status := code.Status(); {
	case status == dnssec.Bogus:
		return finding.Entry{Severity: finding.Fail, Group: finding.Broken, Weight: 99,
			Message: "%[2]s does not resolve for validating resolvers: %[3]s"}
	case status == dnssec.Indeterminate:
		return finding.Entry{Severity: finding.Info, Group: finding.Note, Weight: 15,
			Message: "DNSSEC of %[2]s was not verified: %[3]s"}
	case code == dnssec.NoDS:
		return finding.Entry{Severity: finding.Info, Group: finding.Safer, Weight: 30,
			Message: "%[2]s does not use DNSSEC, so forged DNS answers go unnoticed."}
	case status == dnssec.Insecure:
		return finding.Entry{Severity: finding.Warn, Group: finding.Safer, Weight: 57,
			Message: "Validating resolvers treat %[2]s as not signed: %[3]s"}
	case code == dnssec.SignatureExpiresSoon:
		return finding.Entry{Severity: finding.Warn, Group: finding.Broken, Weight: 79, Message: "%[3]s"}
	case code == dnssec.DenialContradicts:
		return finding.Entry{Severity: finding.Warn, Group: finding.Broken, Weight: 76, Message: "%[3]s"}
	}
	return finding.Entry{Severity: finding.Info, Group: finding.Safer, Weight: 22, Message: "%[3]s"}
}

// Remedies of several reasons.
const (
	remedyDS = "Have the DS record at the registrar replaced by that of the key that signs the zone, or removed if the " +
		"zone is no longer signed."
	remedySign = "Sign the zone anew, and check that the signer runs by itself and that all servers have its result."
	remedyDeny = "Sign the zone anew with its NSEC or NSEC3 records; software that makes them itself must know all names."
)

// remedies are what to do about a reason.
var remedies = map[dnssec.Code]string{
	dnssec.NoDS:   "Sign the zone, and have its DS record entered at the registrar; many providers do both on request.",
	dnssec.OptOut: "Enter a DS record for the zone, or sign without opt-out.", dnssec.KeysMissing: remedyDS,
	dnssec.DSKeyMissing: remedyDS, dnssec.DigestMismatch: remedyDS, dnssec.KeyRevoked: remedyDS,
	dnssec.KeyNotZone: remedyDS, dnssec.KeyMalformed: remedyDS, dnssec.KeysUnsigned: remedySign,
	dnssec.SignatureMissing: remedySign, dnssec.SignatureExpired: remedySign, dnssec.SignatureInvalid: remedySign,
	dnssec.SignatureKeyMissing: remedySign, dnssec.SignerWrong: remedySign, dnssec.LabelsWrong: remedySign,
	dnssec.SignatureNotYetValid: "Check the clock of the signer; if it is right, wait or sign anew.",
	dnssec.SignatureUnsupported: "Sign with an algorithm of RFC 8624, such as 13 (ECDSA P-256).",
	dnssec.AlgorithmUnsupported: "Sign with an algorithm of RFC 8624, such as 13 (ECDSA P-256).",
	dnssec.DigestUnsupported:    "Use a DS record of digest type 2 (SHA-256).",
	dnssec.DigestDeprecated:     "Use a DS record of digest type 2 (SHA-256).",
	dnssec.AlgorithmDeprecated:  "Roll over to algorithm 13 (ECDSA P-256).",
	dnssec.IterationsHigh:       "Use NSEC3 with 0 iterations and without a salt, or NSEC.",
	dnssec.IterationsNotZero:    "Use NSEC3 with 0 iterations and without a salt, or NSEC.",
	dnssec.SignatureExpiresSoon: remedySign, dnssec.DenialMissing: remedyDeny, dnssec.DenialIncomplete: remedyDeny,
	dnssec.DenialWrongSide: remedyDeny, dnssec.TypeExists: remedyDeny, dnssec.NameDenied: remedyDeny,
	dnssec.NameExists: remedyDeny, dnssec.DenialContradicts: remedyDeny, dnssec.WildcardUnproven: remedyDeny,
	dnssec.RecordsMissing: remedySign, dnssec.AliasWrong: remedySign, dnssec.NotDelegated: remedyDeny,
	dnssec.KeyShort: "Roll over to a key of 2,048 bits, or to algorithm 13 (ECDSA P-256).",
}

// referenceOf is the address of "RFC 4035 section 5.3.1".
func referenceOf(rfcSection string) string {
	number, section, _ := strings.Cut(strings.TrimPrefix(rfcSection, "RFC "), " section ")
	if section == "" {
		return rfc + number
	}
	return rfc + number + "#section-" + section
}

// maxSentence bounds a reason in a finding, in characters.
const maxSentence = 400

// judgeDNSSEC reports the verdict on the name, and the warnings beside it.
func (p *report) judgeDNSSEC(found outcome, c *chain) {
	verdict := c.verdict(found)
	if verdict.Reason != nil {
		p.reason(found, *verdict.Reason)
	}
	seen := []dnssec.Reason{}
	for _, v := range c.verdicts(found) {
		for _, w := range v.Warnings {
			if !slices.ContainsFunc(seen, func(s dnssec.Reason) bool { return s.Code == w.Code && s.Zone == w.Zone }) {
				seen = append(seen, w)
			}
		}
	}
	for _, w := range append(seen, c.contradictions[:min(len(c.contradictions), 1)]...) {
		p.warning(found, w)
	}
	p.judgeServersDNSSEC(found, c, verdict.Status)
}

// verdicts are those on all zones and answers of a run, in the order of the walk.
func (c *chain) verdicts(found outcome) []dnssec.Verdict {
	var all []dnssec.Verdict
	add := func(way descent, answers []*answer) {
		for _, z := range way.zones {
			all = append(all, c.cuts[z.name].Verdict, c.zones[z.name].Verdict)
		}
		for _, a := range answers {
			all = append(all, c.answers[a].Verdict)
		}
	}
	add(found.way, found.answers)
	for _, a := range found.aliases {
		add(a.way, a.answers)
	}
	return all
}

func (p *report) reason(found outcome, r dnssec.Reason) {
	p.add(codeOf(r.Code), r.Zone, "", shown(found.name), inSentence(r))
}

// warning reports a reason that does not decide the verdict. One that could, elsewhere, is less severe here.
func (p *report) warning(found outcome, r dnssec.Reason) {
	if r.Code.Status() == "" {
		p.reason(found, r)
		return
	}
	p.add(codeAside, r.Zone, "", text.Show(r.Sentence(), maxSentence))
}

// codeAside is what would be a fault if other keys or signatures did not suffice.
const codeAside = "DNSSEC_UNUSED"

// inSentence is the reason as the end of a sentence.
func inSentence(r dnssec.Reason) string {
	s := r.Sentence()
	if rest, is := strings.CutPrefix(s, "The "); is {
		s = "the " + rest
	}
	return text.Show(s, maxSentence)
}

// judgeServersDNSSEC reports servers whose answers do not validate while those of others do.
func (p *report) judgeServersDNSSEC(found outcome, c *chain, status dnssec.Status) {
	if status != dnssec.Secure {
		return
	}
	for _, z := range found.way.zones {
		for _, one := range z.goodChecks() {
			if v := c.soas[one]; v.Status == dnssec.Bogus {
				p.add(codeServerBogus, z.name, one.name, shown(one.name), one.address.String(), inSentence(*v.Reason))
			}
		}
	}
}
