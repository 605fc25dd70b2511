package dnsclient

import (
	"context"

	"diagnostics/gateway/internal/text"

	"github.com/miekg/dns"
)

// ExtendedError is an RFC 8914 extended DNS error.
type ExtendedError struct {
	Code uint16 `json:"code"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// Bounds on what a stranger's server can make us show.
const (
	maxExtendedErrors = 8
	maxExtendedText   = 256
)

// extendedErrorNames are those of IANA's registry "Extended DNS Error Codes", by code.
var extendedErrorNames = [...]string{
	"Other Error",
	"Unsupported DNSKEY Algorithm",
	"Unsupported DS Digest Type",
	"Stale Answer",
	"Forged Answer",
	"DNSSEC Indeterminate",
	"DNSSEC Bogus",
	"Signature Expired",
	"Signature Not Yet Valid",
	"DNSKEY Missing",
	"RRSIGs Missing",
	"No Zone Key Bit Set",
	"NSEC Missing",
	"Cached Error",
	"Not Ready",
	"Blocked",
	"Censored",
	"Filtered",
	"Prohibited",
	"Stale NXDomain Answer",
	"Not Authoritative",
	"Not Supported",
	"No Reachable Authority",
	"Network Error",
	"Invalid Data",
	"Signature Expired before Valid",
	"Too Early",
	"Unsupported NSEC3 Iterations Value",
	"Unable to conform to policy",
	"Synthesized",
	"Invalid Query Type",
}

func extendedErrors(m *dns.Msg) []ExtendedError {
	opt := m.IsEdns0()
	if opt == nil {
		return nil
	}
	var list []ExtendedError
	for _, o := range opt.Option {
		ede, is := o.(*dns.EDNS0_EDE)
		if !is || len(list) == maxExtendedErrors {
			continue
		}
		list = append(list, ExtendedError{
			Code: ede.InfoCode,
			Name: extendedErrorName(ede.InfoCode),
			Text: text.Clean(ede.ExtraText, maxExtendedText),
		})
	}
	return list
}

// firstPrivateExtendedError begins the range that RFC 8914 section 5.2 leaves to private use.
const firstPrivateExtendedError = 49152

func extendedErrorName(code uint16) string {
	switch {
	case int(code) < len(extendedErrorNames):
		return extendedErrorNames[code]
	case code >= firstPrivateExtendedError:
		return "Private Use"
	}
	return "Unassigned"
}

// FailsDNSSEC reports whether a failed answer failed the resolver's validation, and returns the resolver's reason if it
// sent one (RFC 8914, from DNSSEC Bogus to NSEC Missing). Without any reason the resolver is asked again with the CD
// bit: what it passes on then, it had refused to validate.
func (c *Client) FailsDNSSEC(ctx context.Context, name string, qtype uint16, answer Answer) (ExtendedError, bool) {
	const bogus, nsecMissing = 6, 12
	if answer.Code != CodeServFail {
		return ExtendedError{}, false
	}
	for _, e := range answer.Extended {
		if e.Code >= bogus && e.Code <= nsecMissing {
			return e, true
		}
	}
	if len(answer.Extended) > 0 {
		return ExtendedError{}, false
	}
	unchecked := c.QueryUnchecked(ctx, name, qtype)
	return ExtendedError{}, unchecked.Conclusive()
}
