package whoislookup

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

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
		return rows.Draft().Conclude(codeNetwork, finding.Args{"address": r.Query,
			"network": cmp.Or(text.Show(r.Network.Name, mostShown), text.Show(r.Network.Handle, mostShown)),
			"first":   r.Network.StartAddress, "last": r.Network.EndAddress})
	}
	name, code := r.Query, codeNoNetwork
	if r.RegistrableDomain != nil {
		name, code = *r.RegistrableDomain, codeNotRegistered
	}
	args := finding.Args{"name": name}
	switch {
	case r.Reason == nil:
	case r.undelegated:
		code, args["tld"] = codeNoTLD, name[strings.LastIndexByte(name, '.')+1:]
	case r.suffix:
		code = codeSuffix
	case *r.Reason == rdap.NoService:
		code = codeNoService
	case *r.Reason == rdap.Reserved:
		code = codeReserved
	}
	report := rows.Draft()
	report.Add(code, "", args)
	return report.Conclude(code, args)
}

func reportDomain(d *rdap.Domain, now time.Time) finding.Report {
	name := cmp.Or(text.Show(d.UnicodeName, 2*mostShown), d.Name)
	named := finding.Args{"name": name}
	end, ends := moment(d.Events.Expires)
	report := rows.Draft()
	var troubles []trouble
	add := func(code string, args finding.Args) {
		args = named.With(args)
		report.Add(code, "", args)
		troubles = append(troubles, trouble{code, args})
	}
	if ends && end.Before(now) {
		add(codeExpired, finding.Args{"end": end})
	} else if ends && end.Before(now.Add(soon)) {
		add(codeExpiresSoon, finding.Args{"end": end})
	}
	for _, status := range statusesOf(d) {
		switch code := statuses[status]; code {
		case "":
		case codeHold, codeNoRenewal:
			add(code, finding.Args{"registrar": strings.HasPrefix(status, "client")})
		default:
			add(code, nil)
		}
	}
	if signed := d.DNSSEC.Signed; signed != nil && !*signed {
		report.Add(codeUnsigned, finding.DNSSEC(d.Name), named)
	}
	if len(troubles) > 0 {
		worst := slices.MinFunc(troubles, trouble.compare)
		return report.Conclude(worst.code, worst.args)
	}
	if since, known := moment(d.Events.Registered); known {
		named["since"] = since
	}
	if d.Registrar != nil && d.Registrar.Name != nil {
		named["registrar"] = strings.TrimSuffix(text.Show(*d.Registrar.Name, mostShown), ".")
	}
	if !ends {
		return report.Conclude(codeRegisteredNoEnd, named)
	}
	named["end"] = end
	return report.Conclude(codeRegistered, named)
}

// trouble is a finding that becomes the conclusion if it is the worst.
type trouble struct {
	code string
	args finding.Args
}

// compare orders troubles as the findings of a report are.
func (t trouble) compare(other trouble) int {
	return cmp.Or(cmp.Compare(rows[other.code].Weight, rows[t.code].Weight), cmp.Compare(t.code, other.code))
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

func moment(at *string) (time.Time, bool) {
	if at == nil {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, *at)
	return t, err == nil
}
