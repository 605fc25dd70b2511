package whoislookup

import (
	"context"

	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/providers/whois"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/registration"

	"golang.org/x/net/idna"
)

// withWHOIS adds what the registry says on port 43 to a result without an RDAP service. Where that is nothing that can
// be read, the result stays what it was, with a notice of why. Errors are those of whois.Client.Lookup.
func (r Result) withWHOIS(ctx context.Context, port43 *whois.Client, name string) (Result, error) {
	answer, err := port43.Lookup(ctx, name)
	if err != nil {
		return Result{}, err
	}
	source := registration.Source{
		Name: "whois", Server: answer.Server, FetchedAt: format.RFC3339(answer.FetchedAt), Cached: answer.Cached,
	}
	registration.Report(ctx, source)
	r.Sources = append(r.Sources, source)
	switch answer.Outcome {
	case whois.Found:
		r.Found, r.Reason, r.Domain = true, nil, describe(name, answer.Domain)
		r.Truncated = r.Truncated || answer.Domain.Truncated
	case whois.NotFound:
		r.Reason = format.TextOrNull(rdap.NotFound)
		r.Notices = withAbsence(r.Notices, rdap.NotFound, noticeNoDomain)
	case whois.Reserved:
		r.Reason = format.TextOrNull(rdap.Reserved)
		r.Notices = append(r.Notices, reservedNotice(answer.Line))
	case whois.Unread:
		r.Notices = append(r.Notices, rdap.Notice{
			Title: rows.Clause(noticeUnread, nil), Description: answer.Why, FromService: true,
		})
	}
	return r, nil
}

// reservedNotice has the registry's own line, where it may be shown.
func reservedNotice(line string) rdap.Notice {
	if line == "" {
		return ownNotice(noticeReserved)
	}
	return rdap.Notice{Title: rows.Clause(noticeAnswer, nil), Description: line}
}

// describe returns a registration of WHOIS in the form of one of RDAP. Contacts are never read.
func describe(name string, d *whois.Domain) *rdap.Domain {
	unicode, err := idna.Display.ToUnicode(name)
	if err != nil {
		unicode = name
	}
	described := &rdap.Domain{
		Name: name, UnicodeName: unicode, Status: d.Status, Nameservers: d.Nameservers,
		Events: rdap.Events{
			Registered: d.Registered, Expires: d.Expires, Updated: d.Updated, Transferred: d.Transferred,
			RegistrarExpires: d.RegistrarExpires,
		},
		DNSSEC: rdap.DNSSEC{Signed: d.Signed, DS: []rdap.DS{}}, Contacts: []rdap.Contact{},
		Redactions: []rdap.Redaction{}, Truncated: d.Truncated,
	}
	if d.Registrar != nil {
		described.Registrar = &rdap.Registrar{Name: d.Registrar.Name, IANAID: d.Registrar.IANAID, URL: d.Registrar.URL}
	}
	return described
}
