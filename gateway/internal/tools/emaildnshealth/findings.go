package emaildnshealth

import (
	"cmp"
	"slices"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/dmarc"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of conclusions.
const (
	codeNotFound    = "NAME_NOT_FOUND"
	codeDelivery    = "DELIVERY_BROKEN"
	codeAnyone      = "ANYONE_CAN_SEND"
	codeForgeable   = "MAIL_FORGEABLE"
	codeFaulty      = "RECORDS_NEED_ATTENTION"
	codeNotVerified = "NOT_VERIFIED"
	codeNoMail      = "NO_MAIL"
	codeNoMailOpen  = "NO_MAIL_UNPROTECTED"
	codeWell        = "MAIL_SET_UP_WELL"
)

// issue is a finding as older clients read it, in the check that it is about.
type issue struct {
	// Code is stable, in capitals with underscores.
	Code     string           `json:"code"`
	Severity finding.Severity `json:"severity" wire:"enum=fail|warn|info"`
	// Message says what is wrong and what to change.
	Message string `json:"message"`
	// Reference is the RFC and its section.
	Reference string `json:"reference"`
}

func issueOf(fact mail.Issue) issue {
	code := fact.Code
	if of, is := fact.Args["issue"].(string); is { // of a key that the search found
		code = of
	}
	return issue{Code: cmp.Or(issueCodes[code], code), Severity: rows[fact.Code].Severity,
		Message: rows.Sentence(fact.Code, fact.Args), Reference: rows[code].Reference}
}

// have reports whether an issue has the severity.
func have(facts mail.Issues, severity finding.Severity) bool {
	return slices.ContainsFunc(facts, func(i mail.Issue) bool { return rows[i.Code].Severity == severity })
}

// cutShort are the issues of records of which not all was read.
var cutShort = []string{
	"DMARC_TOO_MANY_ADDRESSES", "DMARC_TOO_MANY_DESTINATIONS", "MTASTS_TOO_MANY_PATTERNS", "TLSRPT_TOO_MANY_ADDRESSES",
}

// report draws the conclusion, the findings and the issues of the checks from what they found.
func (r *Result) report() {
	report := rows.Draft()
	judge := func(facts mail.Issues) []issue {
		issues := make([]issue, len(facts))
		for i, fact := range facts {
			fact = r.inContext(fact)
			report.Add(fact.Code, fact.Subject, fact.Args)
			issues[i] = issueOf(fact)
		}
		return issues
	}
	for _, c := range r.Checks.all() {
		c.Issues = bound.First(judge(c.facts), mail.MaxShown, &c.Truncated)
		c.Truncated = c.Truncated || slices.ContainsFunc(cutShort, c.facts.HasCode)
	}
	if r.BIMI != nil {
		r.BIMI.Issues = judge(r.BIMI.facts)
	}
	r.Report = report.Conclude(r.conclude(report.Findings()))
	r.Findings = bound.List(r.Findings, maxFindings, &r.Truncated)
}

// inContext gives an issue the code and the arguments that follow from other checks: what a missing record means for a
// domain that takes no mail, and which record to publish. Nothing in that is what a server sent.
func (r *Result) inContext(i mail.Issue) mail.Issue {
	c, receiver, silent := &r.Checks, "", r.Checks.silent()
	if !silent && len(c.MX.mailHosts()) > 0 {
		receiver = r.Domain
	}
	switch i.Code {
	case "SPF_MISSING":
		i.Args = finding.Args{"receiver": receiver}
		if silent {
			i.Code, i.Args = "SPF_MISSING_SILENT", finding.Args{"domain": r.Domain}
		}
		if c.MX.NullMX {
			i.Code = "SPF_MISSING_NULL_MX"
		}
	case "DMARC_MISSING":
		i.Args = finding.Args{"domain": r.Domain, "receiver": receiver,
			"silent": silent && (c.SPF.report.SendsNothing || c.SPF.Status == mailMissing)}
		if c.MX.NullMX {
			i.Code = "DMARC_MISSING_NULL_MX"
		}
	case "DMARC_UNREADABLE":
		if c.MX.NullMX {
			i.Code = "DMARC_UNREADABLE_NULL_MX"
		}
	case "MTASTS_MISSING", "TLSRPT_MISSING":
		i.Args = finding.Args{"domain": r.Domain, "receiver": receiver}
	case "MTASTS_MX_NOT_COVERED":
		if c.MTASTS.Mode == nil || *c.MTASTS.Mode != "enforce" {
			i.Code = "MTASTS_MX_NOT_COVERED_YET" // senders deliver all the same
		}
	}
	return i
}

// conclude answers whether mail arrives and cannot be forged. What is known to be wrong counts more than what is not
// known, as in overall.
func (r *Result) conclude(found []finding.Finding) (code string, args finding.Args) {
	has := func(group finding.Group, severities ...finding.Severity) bool {
		return slices.ContainsFunc(found, func(f finding.Finding) bool {
			return f.Group == group && slices.Contains(severities, f.Severity)
		})
	}
	c, args := &r.Checks, finding.Args{"domain": mail.Show(r.Domain)}
	reason := c.forgeable()
	attention := func() (string, finding.Args) {
		if c.SPF.report.All == "+all" {
			return codeAnyone, args
		}
		if reason != "" {
			return codeForgeable, args.With(finding.Args{"reason": reason, "silent": c.silent()})
		}
		worst, others := worstOf(found, finding.Safer)
		if others > 0 {
			worst["others"] = others
		}
		args = args.With(worst)
		if i := r.checkOf(worst["worst"]); i >= 0 {
			args = args.With(finding.Args{"check": checkNames[i], "effect": effects[i]})
		}
		return codeFaulty, args
	}
	switch {
	case c.MX.notFound:
		return codeNotFound, finding.Args{"host": args["domain"]}
	case has(finding.Broken, finding.Fail, finding.Warn):
		worst, _ := worstOf(found, finding.Broken)
		return codeDelivery, args.With(worst)
	case has(finding.Safer, finding.Fail):
		return attention()
	case len(c.named(mailError)) > 0:
		return codeNotVerified, args.With(finding.Args{"unanswered": c.named(mailError)})
	case has(finding.Safer, finding.Warn):
		return attention()
	case c.MX.NullMX || c.SPF.report.SendsNothing:
		args["silence"] = c.silence()
		if reason != "" || c.SPF.Status == mailMissing {
			return codeNoMailOpen, args
		}
		return codeNoMail, args
	}
	args["missing"] = c.named(mailMissing)
	if c.DKIM.Selector == nil {
		args["searched"], args["selectors"] = true, c.DKIM.selectors()
	}
	return codeWell, args
}

// worstOf returns the heaviest finding of a group as the argument worst, beside its own arguments, and how many other
// findings the group has. A note on how little was found does not count.
func worstOf(found []finding.Finding, group finding.Group) (worst finding.Args, others int) {
	var first *finding.Finding
	for i := range found {
		switch f := &found[i]; {
		case f.Group != group || f.Severity == finding.Info:
		case first == nil:
			first = f
		case f.Weight > first.Weight:
			first, others = f, others+1
		default:
			others++
		}
	}
	worst = finding.Args{"worst": first.Code}
	for name, value := range first.Args {
		worst[name] = value
	}
	return worst, others
}

// checkNames are the names of the checks in the order of all.
var checkNames = []string{"MX", "SPF", "DMARC", "DKIM", "MTA-STS", "TLS reporting"}

// effects are the codes of what a fault in each of them leads to.
var effects = []string{"EFFECT_MX", "EFFECT_SPF", "EFFECT_DMARC", "EFFECT_DKIM", "EFFECT_MTA_STS",
	"EFFECT_TLS_REPORTING"}

// checkOf returns which check has a finding with the code, -1 if none has.
func (r *Result) checkOf(code any) int {
	return slices.IndexFunc(r.Checks.all(), func(c *check) bool {
		return slices.ContainsFunc(c.facts, func(fact mail.Issue) bool { return r.inContext(fact).Code == code })
	})
}

// silent reports whether the domain names no mail server: senders fall back on its own address, often a web server's.
func (r *results) silent() bool {
	return r.MX.NullMX || r.MX.Status == mailMissing || r.MX.facts.HasCode("MX_IMPLICIT")
}

// silence is the clause on how far a domain keeps out of mail.
func (r *results) silence() string {
	switch {
	case !r.SPF.report.SendsNothing:
		return "ACCEPTS_NO_MAIL"
	case r.MX.NullMX:
		return "NEITHER_SENDS_NOR_ACCEPTS"
	}
	return "SENDS_NO_MAIL"
}

// forgeable returns why forged mail passes, as the code of a clause; empty if it does not.
func (r *results) forgeable() (reason string) {
	acts := r.DMARC.applied == dmarc.Quarantine || r.DMARC.applied == dmarc.Reject
	switch {
	case r.SPF.facts.HasCode("SPF_ALLOWS_ALL"): // here, in a record that is included, or by a network of all addresses
		return "FORGED_BY_SPF"
	case acts || r.DMARC.Status == mailError:
		return ""
	case r.DMARC.Status == mailMissing:
		return "FORGED_BY_DMARC_MISSING"
	}
	return "FORGED_BY_DMARC_POLICY"
}

// named lists the checks with a status by their names.
func (r *results) named(s status) (names []string) {
	for i, name := range checkNames {
		if r.all()[i].Status == s {
			names = append(names, name)
		}
	}
	return names
}
