package whoislookup

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of this tool.
const (
	codeRegistered      = "REGISTERED"
	codeRegisteredNoEnd = "REGISTERED_WITHOUT_END"
	codeNetwork         = "NETWORK"
	codeNotRegistered   = "NOT_REGISTERED"
	codeNoNetwork       = "NETWORK_NOT_REGISTERED"
	codeNoService       = "REGISTRY_NOT_KNOWN"
	codeReserved        = "RESERVED"
	codeExpired         = "EXPIRED"
	codeExpiresSoon     = "EXPIRES_SOON"
	codeHold            = "STATUS_HOLD"
	codePendingDelete   = "STATUS_PENDING_DELETE"
	codeRedemption      = "STATUS_REDEMPTION"
	codeInactive        = "STATUS_INACTIVE"
	codePendingRestore  = "STATUS_PENDING_RESTORE"
	codePendingTransfer = "STATUS_PENDING_TRANSFER"
	codePendingCreate   = "STATUS_PENDING_CREATE"
	codeAutoRenew       = "STATUS_AUTO_RENEW"
	codeNoRenewal       = "STATUS_RENEW_PROHIBITED"
	codeUnsigned        = "DNSSEC_NOT_USED"
)

const (
	epp = "https://www.rfc-editor.org/rfc/rfc5731#section-2.3"
	rgp = "https://www.rfc-editor.org/rfc/rfc3915#section-3.1"

	messageNotRegistered = "%[1]s is not registered (or is reserved by the registry)."
	messageNoNetwork     = "The network of %[1]s is not registered (or is reserved by the registry)."
	messageReserved      = "%[1]s cannot be registered: the registry answers that it does not give this name out."
	messageNoService     = "The registration of %[1]s cannot be looked up: it has no known RDAP or readable WHOIS service."
)

// troubles are the findings that are a conclusion as well where they are the worst. Their arguments are the name, who
// set the status, and the day of the registration's end.
var troubles = map[string]finding.Entry{
	codePendingDelete: {Severity: finding.Fail, Group: finding.Broken, Weight: 97,
		Message:   "%[1]s is about to be deleted; within days anyone can register it.",
		Remedy:    "Ask the registrar at once whether it can still be restored.",
		Reference: rgp},
	codeRedemption: {Severity: finding.Fail, Group: finding.Broken, Weight: 96,
		Message:   "%[1]s was deleted; for some weeks its holder can have it restored, for a fee.",
		Remedy:    "Have the registrar restore the name.",
		Reference: rgp},
	codeHold: {Severity: finding.Fail, Group: finding.Broken, Weight: 95,
		Message:   "The %[2]s keeps %[1]s out of the DNS, so its website and mail do not work.",
		Remedy:    "Ask the %[2]s for the reason; often a payment or a confirmation of the holder's data is missing.",
		Reference: epp},
	codeExpired: {Severity: finding.Fail, Group: finding.Broken, Weight: 92,
		Message: "The registration of %[1]s ended on %[3]s.",
		Remedy:  "Renew the registration at the registrar."},
	codeInactive: {Severity: finding.Warn, Group: finding.Broken, Weight: 70,
		Message:   "%[1]s is registered, but has no name servers, so it is not in the DNS.",
		Remedy:    "Set name servers at the registrar.",
		Reference: epp},
	codePendingRestore: {Severity: finding.Warn, Group: finding.Broken, Weight: 70,
		Message: "%[1]s was deleted and is being restored.", Reference: rgp},
	codeExpiresSoon: {Severity: finding.Warn, Group: finding.Safer, Weight: 60,
		Message: "The registration of %[1]s ends on %[3]s, within 30 days.",
		Remedy:  "Renew the registration, or check that the registrar renews it automatically."},
	codeAutoRenew: {Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Message:   "%[1]s expired and the registry renewed it automatically; the registrar may still release it.",
		Remedy:    "Check at the registrar that the renewal is paid.",
		Reference: rgp},
	codePendingTransfer: {Severity: finding.Warn, Group: finding.Safer, Weight: 50,
		Message:   "%[1]s is being transferred to another registrar.",
		Remedy:    "If the holder did not request the transfer, stop it at the registrar.",
		Reference: epp},
	codeNoRenewal: {Severity: finding.Warn, Group: finding.Safer, Weight: 45,
		Message:   "The %[2]s does not let %[1]s be renewed, often because of a dispute or a deletion.",
		Remedy:    "Ask the %[2]s for the reason.",
		Reference: epp},
	codePendingCreate: {Severity: finding.Warn, Group: finding.Note, Weight: 30,
		Message: "The registration of %[1]s is requested and not complete yet.", Reference: epp},
}

var catalogue = makeCatalogue()

func makeCatalogue() finding.Catalogue {
	c := finding.Catalogue{
		Conclusions: map[string]finding.Outcome{
			codeRegistered:      {State: finding.OK, Message: "%s. The registration ends on %s."},
			codeRegisteredNoEnd: {State: finding.OK, Message: "%s. The registry does not publish when the registration ends."},
			codeNetwork:         {State: finding.OK, Message: "%s belongs to the network %s, %s to %s."},
			codeNotRegistered:   {State: finding.Noted, Message: messageNotRegistered},
			codeNoNetwork:       {State: finding.Noted, Message: messageNoNetwork},
			codeNoService:       {State: finding.Unknown, Message: messageNoService},
			codeReserved:        {State: finding.Noted, Message: messageReserved},
		},
		Findings: map[string]finding.Entry{
			codeNotRegistered: {Severity: finding.Info, Group: finding.Note, Weight: 20, Message: messageNotRegistered},
			codeNoNetwork:     {Severity: finding.Info, Group: finding.Note, Weight: 10, Message: messageNoNetwork},
			codeNoService:     {Severity: finding.Info, Group: finding.Note, Weight: 5, Message: messageNoService},
			codeReserved:      {Severity: finding.Info, Group: finding.Note, Weight: 20, Message: messageReserved},
			codeUnsigned: {Severity: finding.Info, Group: finding.Safer, Weight: 15,
				Message:   "%s does not use DNSSEC, so forged DNS answers go unnoticed.",
				Remedy:    "Sign the zone, and add its DS record at the registrar.",
				Reference: "https://www.rfc-editor.org/rfc/rfc9364"},
		},
	}
	maps.Copy(c.Findings, troubles)
	states := map[finding.Severity]finding.State{finding.Fail: finding.Failed, finding.Warn: finding.Warned}
	for code, entry := range troubles {
		c.Conclusions[code] = finding.Outcome{State: states[entry.Severity], Message: entry.Message}
	}
	return c
}

// statuses are the codes of the statuses of domains (RFC 5731, RFC 3915) that deserve attention. RDAP writes them as
// words (RFC 8056), so blanks and case do not count.
var statuses = map[string]string{
	"clienthold": codeHold, "serverhold": codeHold,
	"clientrenewprohibited": codeNoRenewal, "serverrenewprohibited": codeNoRenewal,
	"inactive": codeInactive, "autorenewperiod": codeAutoRenew, "redemptionperiod": codeRedemption,
	"pendingcreate": codePendingCreate, "pendingdelete": codePendingDelete, "pendingrestore": codePendingRestore,
	"pendingtransfer": codePendingTransfer,
}

// soon is how long before its end a registration deserves attention.
const soon = 30 * 24 * time.Hour

// mostShown is how many characters of a registry's own text a sentence has.
const mostShown = 100

// report returns the conclusion and the findings at a time.
func (r *Result) report(now time.Time) finding.Report {
	switch {
	case r.Domain != nil:
		return reportDomain(r.Domain, now)
	case r.Network != nil:
		name := text.Show(r.Network.Name, mostShown)
		if name == "" {
			name = text.Show(r.Network.Handle, mostShown)
		}
		return finding.NewReport(catalogue.Conclude(codeNetwork, r.Query, name, r.Network.StartAddress, r.Network.EndAddress))
	}
	subject, code := r.Query, codeNoNetwork
	if r.RegistrableDomain != nil {
		subject, code = *r.RegistrableDomain, codeNotRegistered
	}
	switch {
	case r.Reason == nil:
	case *r.Reason == rdap.NoService:
		code = codeNoService
	case *r.Reason == rdap.Reserved:
		code = codeReserved
	}
	return finding.NewReport(catalogue.Conclude(code, subject), catalogue.Find(code, subject))
}

func reportDomain(d *rdap.Domain, now time.Time) finding.Report {
	name := text.Show(d.UnicodeName, 2*mostShown)
	if name == "" {
		name = d.Name
	}
	end, ends := moment(d.Events.Expires)
	var found []finding.Finding
	add := func(code, who string) { found = append(found, catalogue.Find(code, name, who, day(end))) }
	if ends && end.Before(now) {
		add(codeExpired, "")
	} else if ends && end.Before(now.Add(soon)) {
		add(codeExpiresSoon, "")
	}
	for _, status := range statusesOf(d) {
		if code, known := statuses[status]; known {
			add(code, setBy(status))
		}
	}
	if signed := d.DNSSEC.Signed; signed != nil && !*signed {
		found = append(found, catalogue.Find(codeUnsigned, name).About(finding.DNSSEC(d.Name)))
	}
	report := finding.NewReport(finding.Conclusion{}, found...)
	worst := slices.IndexFunc(report.Findings, func(f finding.Finding) bool { return f.Severity != finding.Info })
	switch {
	case worst >= 0:
		f := report.Findings[worst]
		report.Conclusion = finding.Conclusion{State: catalogue.Conclusions[f.Code].State, Code: f.Code, Message: f.Message}
	case ends:
		report.Conclusion = catalogue.Conclude(codeRegistered, registered(name, d), day(end))
	default:
		report.Conclusion = catalogue.Conclude(codeRegisteredNoEnd, registered(name, d))
	}
	return report
}

// registered says since when and through whom a name is registered, as far as the registry publishes that.
func registered(name string, d *rdap.Domain) string {
	through := ""
	if d.Registrar != nil && d.Registrar.Name != nil {
		if registrar := text.Show(*d.Registrar.Name, mostShown); registrar != "" {
			through = " through " + strings.TrimSuffix(registrar, ".")
		}
	}
	if since, known := moment(d.Events.Registered); known {
		return fmt.Sprintf("%s has been registered since %s%s", name, day(since), through)
	}
	return name + " is registered" + through
}

// statusesOf are the statuses in small letters alone, each once.
func statusesOf(d *rdap.Domain) []string {
	var all []string
	for _, status := range d.Status {
		key := strings.Map(func(r rune) rune {
			if r < 'a' || r > 'z' {
				return -1
			}
			return r
		}, strings.ToLower(status))
		if !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return all
}

func setBy(status string) string {
	if strings.HasPrefix(status, "client") {
		return "registrar"
	}
	return "registry"
}

func moment(at *string) (time.Time, bool) {
	if at == nil {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, *at)
	return t, err == nil
}

func day(t time.Time) string { return t.Format("2 January 2006") }
