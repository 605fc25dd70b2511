package emaildnshealth

import (
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/dmarc"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
)

// The codes of conclusions.
const (
	codeNotFound    = "DOMAIN_NOT_FOUND"
	codeDelivery    = "DELIVERY_BROKEN"
	codeForgeable   = "MAIL_FORGEABLE"
	codeFaulty      = "RECORDS_NEED_ATTENTION"
	codeNotVerified = "NOT_VERIFIED"
	codeNoMail      = "NO_MAIL"
	codeNoMailOpen  = "NO_MAIL_UNPROTECTED"
	codeWell        = "MAIL_SET_UP_WELL"
)

// catalogue takes the sentences of findings from the issues of the checks, and so their severity and reference too.
var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeNotFound:    {State: finding.Failed, Message: "%s does not exist."},
		codeDelivery:    {State: finding.Failed, Message: "Mail to %s may not arrive.%s"},
		codeForgeable:   {State: finding.Warned, Message: "Mail from %s can be forged: %s.%s"},
		codeFaulty:      {State: finding.Warned, Message: "The mail records of %s need attention.%s"},
		codeNotVerified: {State: finding.Unknown, Message: "The mail records of %s could not all be looked up.%s"},
		codeNoMail:      {State: finding.OK, Message: "%s %s.%s"},
		codeNoMailOpen:  {State: finding.Noted, Message: "%s %s.%s"},
		codeWell:        {State: finding.OK, Message: "Mail for %s is set up well%s.%s"},
	},
	Findings: issueEntries(),
}

// issueCodes are the codes of all issues. Codes in the last rows stand for what this service left out or could not find
// out, and for the logo, which delivery and forgery do not depend on; they are notes whatever their severity.
var issueCodes = []struct {
	severity finding.Severity
	group    finding.Group
	weight   int
	codes    string
}{
	{finding.Fail, finding.Broken, 95, "DOMAIN_NOT_FOUND"},
	{finding.Fail, finding.Broken, 85, "MX_NULL_WITH_OTHERS MX_HOST_WITHOUT_ADDRESS MX_ADDRESS_NOT_PUBLIC " +
		"MX_ADDRESS_LITERAL MX_NAME_INVALID MX_NAME_NOT_PUBLIC"},
	{finding.Fail, finding.Broken, 75, "TLSA_MATCHES_NOTHING MTASTS_MX_NOT_COVERED"},
	{finding.Fail, finding.Safer, 58, "SPF_ALLOWS_ALL"},
	{finding.Fail, finding.Safer, 55, "SPF_MISSING DMARC_MISSING"},
	{finding.Fail, finding.Safer, 50, "DMARC_LEADING_BLANK DMARC_MISPLACED DMARC_POLICY_INVALID DMARC_SEVERAL_RECORDS " +
		"DMARC_VERSION SPF_LOOP SPF_MODIFIER_TWICE SPF_NAME_INVALID SPF_NOT_ASCII SPF_RECORD_UNREADABLE " +
		"SPF_SEVERAL_RECORDS SPF_SYNTAX SPF_TARGET_NOT_PUBLIC SPF_TARGET_WITHOUT_RECORD SPF_TOO_MANY_EXCHANGES " +
		"SPF_TOO_MANY_LOOKUPS SPF_TOO_MANY_TERMS SPF_TOO_MANY_VOID_LOOKUPS SPF_VERSION"},
	{finding.Fail, finding.Safer, 45, "DKIM_HASH DKIM_KEY_ABSENT DKIM_KEY_INVALID DKIM_KEY_REVOKED DKIM_KEY_TOO_SHORT " +
		"DKIM_KEY_TYPE DKIM_NAME_TOO_LONG DKIM_SERVICE_TYPE DKIM_SEVERAL_RECORDS DKIM_SYNTAX DKIM_TAG_TWICE DKIM_VERSION"},
	{finding.Fail, finding.Safer, 40, "MTASTS_CERTIFICATE MTASTS_HOST_ABSENT MTASTS_ID MTASTS_KEY_ABSENT MTASTS_MAX_AGE " +
		"MTASTS_MEDIA_TYPE MTASTS_MODE MTASTS_PATTERN MTASTS_POLICY_ABSENT MTASTS_POLICY_REDIRECT MTASTS_POLICY_SYNTAX " +
		"MTASTS_POLICY_TOO_LONG MTASTS_POLICY_UNREACHABLE MTASTS_POLICY_VERSION MTASTS_RECORD_SYNTAX " +
		"MTASTS_SEVERAL_RECORDS MTASTS_VERSION"},
	{finding.Fail, finding.Safer, 25, "TLSRPT_NO_ADDRESS TLSRPT_SEVERAL_RECORDS TLSRPT_VERSION"},
	{finding.Warn, finding.Broken, 60, "DNS_CONTRADICTS"},
	{finding.Warn, finding.Safer, 48, "DMARC_POLICY_ABSENT DMARC_POLICY_NONE MX_MISSING MX_NO_IPV4"},
	{finding.Warn, finding.Safer, 40, "HELLO_INTOLERANT"},
	{finding.Warn, finding.Safer, 35, "DKIM_KEY_MISSING DKIM_TEST_MODE DMARC_TEST_MODE MX_CNAME MX_IMPLICIT " +
		"SPF_NEUTRAL_ALL SPF_NETWORK_BROAD SPF_NO_ALL TLSA_NOT_SIGNED TLSA_UNUSABLE TLSA_ZERO"},
	{finding.Warn, finding.Safer, 25, "DKIM_ALIAS_DEAD DKIM_EXTRA_RECORDS DKIM_KEY_LONG DKIM_KEY_SHORT DKIM_NOT_A_KEY " +
		"DKIM_WILDCARD DMARC_BACKSLASH DMARC_NONEXISTENT_POLICY_WEAKER DMARC_PCT DMARC_REPORTS_NOT_AUTHORIZED " +
		"DMARC_REPORTS_REDIRECTED DMARC_REPORT_URI_INVALID DMARC_REPORT_URI_SCHEME DMARC_SUBDOMAIN_POLICY_WEAKER " +
		"DMARC_SYNTAX DMARC_TAG_TWICE DMARC_VALUE_INVALID MTASTS_KEY_TWICE MTASTS_MAX_AGE_SHORT MTASTS_TESTING " +
		"MTASTS_VERSION_NOT_FIRST SPF_MODIFIER_UNKNOWN SPF_PTR SPF_RECORD_TOO_LONG SPF_REDIRECT_IGNORED " +
		"SPF_TERMS_AFTER_ALL TLSRPT_SYNTAX TLSRPT_URI_INVALID"},
	{finding.Info, finding.Note, 8, "MTASTS_MISSING MTASTS_NONE TLSRPT_MISSING"},
	{finding.Info, finding.Note, 5, "DANE_MX_NOT_SIGNED DKIM_ED25519 DKIM_SELECTOR_NEEDED DKIM_STRICT_DOMAIN " +
		"DKIM_TAG_RETIRED DMARC_FO_WITHOUT_RUF DMARC_NO_REPORTS DMARC_POLICY_NOT_SECOND DMARC_PSD DMARC_REPORT_SIZE " +
		"DMARC_RFC7489_ALIGNMENT DMARC_RFC7489_DIFFERS DMARC_SP_IGNORED DMARC_TAG_RETIRED DMARC_TAG_UNKNOWN " +
		"MX_ADDRESS_NAME_NOT_CONFIRMED MX_ADDRESS_WITHOUT_NAME MX_NULL SPF_NETWORK_NOT_PUBLIC SPF_RECORD_LONG " +
		"SPF_VOID_LOOKUP"},
	{finding.Warn, finding.Note, 6, "DKIM_LOOKUP_FAILED DMARC_DESTINATION_LOOKUP_FAILED DMARC_LOOKUP_FAILED " +
		"DMARC_TOO_MANY_ADDRESSES DMARC_TOO_MANY_DESTINATIONS MTASTS_HOST_LOOKUP_FAILED MTASTS_LOOKUP_FAILED " +
		"MTASTS_NOT_FINISHED MTASTS_TOO_MANY_PATTERNS MX_HOST_LOOKUP_FAILED MX_LOOKUP_FAILED MX_TOO_MANY " +
		"SPF_LOOKUP_FAILED SPF_NOT_FINISHED TLSA_LOOKUP_FAILED TLSRPT_LOOKUP_FAILED TLSRPT_TOO_MANY_ADDRESSES"},
	{finding.Info, finding.Note, 4, "DKIM_SEARCH_INCOMPLETE DMARC_WALK_INCOMPLETE MX_ADDRESS_NAME_UNKNOWN " +
		"SPF_MACRO_NOT_FOLLOWED TLSA_NOT_AUTHENTICATED"},
	{finding.Fail, finding.Note, 3, "BIMI_DMARC_NOT_ENFORCED BIMI_EVIDENCE_INVALID BIMI_LOGO_INVALID BIMI_NO_LOGO " +
		"BIMI_TAG_TWICE"},
	{finding.Warn, finding.Note, 3, "BIMI_LOGO_FORMAT BIMI_SYNTAX"},
	{finding.Info, finding.Note, 3, "BIMI_DECLINED BIMI_NO_EVIDENCE"},
}

func issueEntries() map[string]finding.Entry {
	entries := make(map[string]finding.Entry)
	for _, row := range issueCodes {
		for _, code := range strings.Fields(row.codes) {
			entries[code] = finding.Entry{Severity: row.severity, Group: row.group, Weight: row.weight, Message: "%s"}
		}
	}
	return entries
}

// report draws the conclusion and the findings from the checks, before anything is cut.
func (r *Result) report() {
	var found []finding.Finding
	for _, c := range r.Checks.all() {
		for _, issue := range c.Issues {
			found = append(found, r.find(issue))
		}
	}
	if r.BIMI != nil {
		for _, issue := range r.BIMI.Issues {
			found = append(found, r.find(issue))
		}
	}
	r.Report = finding.NewReport(r.conclude(found), found...)
}

// find makes the finding of an issue. Some codes are issues of two severities; the issue's own one holds.
func (r *Result) find(issue mail.Issue) finding.Finding {
	f := catalogue.Find(issue.Code, issue.Message)
	f.Severity, f.Reference = finding.Severity(issue.Severity), format.TextOrNull(issue.Reference)
	f.Subject = format.TextOrNull(issue.Subject)
	c := &r.Checks
	switch {
	case f.Severity == finding.Info:
		f.Group = finding.Note
	case issue.Code == "MTASTS_MX_NOT_COVERED" && (c.MTASTS.Mode == nil || *c.MTASTS.Mode != "enforce"):
		f.Group = finding.Safer // senders deliver all the same
	case c.MX.NullMX && slices.Contains([]string{"SPF_MISSING", "DMARC_MISSING"}, issue.Code):
		f.Group = finding.Note
	}
	if record, remedy := r.repair(issue.Code); record != "" {
		f = f.WithPaste(finding.PasteDNS, record)
		f.Remedy = &remedy
	}
	return f
}

const mailbox = " The mailbox must exist."

// repair returns a record to publish where one is missing, and what to do about it. Nothing in it is what a server
// sent: names are the domain's, as it was typed.
func (r *Result) repair(code string) (record, remedy string) {
	mx, silent := &r.Checks.MX, r.Checks.MX.NullMX || r.Checks.MX.Status == mailMissing
	takesMail := len(mx.mailHosts()) > 0
	txt := func(labels, text string) string { return fmt.Sprintf("%s%s. IN TXT %q", labels, r.Domain, text) }
	switch {
	case code == "SPF_MISSING" && silent:
		return txt("", "v=spf1 -all"),
			"Publish this record if the domain sends no mail; otherwise name the senders before -all."
	case code == "SPF_MISSING" && takesMail:
		senders := "mx"
		if mx.Issues.HasCode("MX_IMPLICIT") {
			senders = "a"
		}
		return txt("", "v=spf1 "+senders+" ~all"), "Publish this record, which lets the servers that receive the mail " +
			"send it too. Add every other sender (include:…, ip4:…), then end it with -all."
	case code == "DMARC_MISSING":
		return r.repairDMARC(takesMail, silent)
	case code == "MTASTS_MISSING" && takesMail:
		return txt("_mta-sts.", "v=STSv1; id=1"), "Serve the policy file at https://mta-sts." + r.Domain +
			"/.well-known/mta-sts.txt first, then publish this record. Change its id whenever the policy changes."
	case code == "TLSRPT_MISSING" && takesMail:
		return txt("_smtp._tls.", "v=TLSRPTv1; rua=mailto:tls-reports@"+r.Domain), "Publish this record." + mailbox
	}
	return "", ""
}

func (r *Result) repairDMARC(takesMail, silent bool) (record, remedy string) {
	c := &r.Checks.DMARC
	if c.Issues.HasCode("DMARC_VERSION") || c.Issues.HasCode("DMARC_LEADING_BLANK") {
		return "", "" // a record is there to be corrected
	}
	policy, advice := "none", "Publish this record. Once all genuine mail passes, raise p to quarantine, then to reject."
	if silent && r.Checks.SPF.report.SendsNothing {
		policy, advice = "reject", "Publish this record: the domain neither sends nor receives mail, so receivers may "+
			"reject all mail in its name."
	} else if takesMail {
		policy += "; rua=mailto:dmarc@" + r.Domain
		advice += mailbox
	}
	return fmt.Sprintf("_dmarc.%s. IN TXT %q", r.Domain, "v=DMARC1; p="+policy), advice
}

// conclude answers whether mail arrives and cannot be forged. What is known to be wrong counts more than what is not
// known, as in overall.
func (r *Result) conclude(found []finding.Finding) finding.Conclusion {
	has := func(group finding.Group, severities ...finding.Severity) bool {
		return slices.ContainsFunc(found, func(f finding.Finding) bool {
			return f.Group == group && slices.Contains(severities, f.Severity)
		})
	}
	c, domain := &r.Checks, mail.Show(r.Domain)
	said := c.sentences(nil)
	attention := catalogue.Conclude(codeFaulty, domain, said)
	if reason, of := c.forgeable(); reason != "" {
		attention = catalogue.Conclude(codeForgeable, domain, reason, c.sentences(of))
	}
	switch {
	case c.MX.notFound:
		return catalogue.Conclude(codeNotFound, domain)
	case has(finding.Broken, finding.Fail, finding.Warn):
		return catalogue.Conclude(codeDelivery, domain, said)
	case has(finding.Safer, finding.Fail):
		return attention
	case slices.ContainsFunc(c.all(), func(c *check) bool { return c.Status == mailError }):
		return catalogue.Conclude(codeNotVerified, domain, said)
	case has(finding.Safer, finding.Warn):
		return attention
	case c.MX.NullMX && !c.SPF.report.SendsNothing:
		return catalogue.Conclude(noMailCode(c), domain, "accepts no mail (null MX)", said)
	case c.MX.NullMX:
		return catalogue.Conclude(noMailCode(c), domain, "neither sends nor accepts mail", said)
	case c.SPF.report.SendsNothing:
		return catalogue.Conclude(noMailCode(c), domain, "sends no mail", said)
	}
	without := ""
	if c.DKIM.Selector == nil {
		without = ", apart from DKIM, which cannot be checked without a selector"
	}
	return catalogue.Conclude(codeWell, domain, without, said)
}

func noMailCode(c *results) string {
	if reason, _ := c.forgeable(); reason != "" || c.SPF.Status == mailMissing {
		return codeNoMailOpen
	}
	return codeNoMail
}

// forgeable returns why forged mail passes, and the check that shows it; empty where it does not.
func (r *results) forgeable() (reason string, of *check) {
	acts := r.DMARC.applied == dmarc.Quarantine || r.DMARC.applied == dmarc.Reject
	switch {
	case r.SPF.report.All == "+all":
		return "SPF lets anyone send (+all)", &r.SPF.check
	case r.SPF.Issues.HasCode("SPF_ALLOWS_ALL"): // in a record that is included, or by a network of all addresses
		return "SPF lets anyone send", &r.SPF.check
	case acts || r.DMARC.Status == mailError:
		return "", nil
	case r.DMARC.Status == mailMissing:
		return "DMARC is missing", &r.DMARC.check
	}
	return "DMARC lets receivers deliver it", &r.DMARC.check
}

// sentences are on the checks that are not in order, but for one of them, each after a space.
func (r *results) sentences(but *check) string {
	names := []string{"MX", "SPF", "DMARC", "DKIM", "MTA-STS", "TLS reporting"}
	var text strings.Builder
	for _, s := range []struct {
		status    status
		one, many string
	}{
		{mailFail, "has a fault", "have faults"},
		{mailError, "could not be looked up", "could not be looked up"},
		{mailWarn, "has a warning", "have warnings"},
		{mailMissing, "is missing", "are missing"},
	} {
		var these []string
		for i, c := range r.all() {
			if c.Status == s.status && c != but {
				these = append(these, names[i])
			}
		}
		switch n := len(these); n {
		case 0:
		case 1:
			fmt.Fprintf(&text, " %s %s.", these[0], s.one)
		default:
			fmt.Fprintf(&text, " %s and %s %s.", strings.Join(these[:n-1], ", "), these[n-1], s.many)
		}
	}
	return text.String()
}
