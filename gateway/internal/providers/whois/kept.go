package whois

import (
	"slices"
	"time"

	"diagnostics/gateway/internal/text"
)

// record is what is kept of an answer: nothing personal is in it.
type record struct {
	Outcome Outcome `json:"outcome"`
	Domain  *Domain `json:"domain,omitempty"`
	Why     string  `json:"why,omitempty"`
	Line    string  `json:"line,omitempty"`
	Server  string  `json:"server"`
}

// fits reports whether what is kept may be used. A store may be shared, and another writer can write anything: it
// is held to what is demanded of a server's own answer.
func (r record) fits() bool {
	if server, ok := readServer(r.Server); !ok || server != r.Server {
		return false
	}
	if r.Line != "" && (r.Outcome != Reserved || !keeps(plain, &r.Line)) {
		return false
	}
	switch r.Outcome {
	case Found:
		return r.Why == "" && r.Domain != nil && r.Domain.fits()
	case NotFound, Reserved:
		return r.Why == "" && r.Domain == nil
	case Unread:
		return r.Why != "" && text.Show(r.Why, MaxText) == r.Why && r.Domain == nil
	}
	return false
}

func (d *Domain) fits() bool {
	if d.Status == nil || d.Nameservers == nil || len(d.Status) > maxElements || len(d.Nameservers) > maxElements {
		return false
	}
	for _, moment := range []*string{d.Registered, d.Expires, d.RegistrarExpires, d.Updated, d.Transferred} {
		if moment == nil {
			continue
		}
		if at, err := time.Parse(time.RFC3339, *moment); err != nil || at.UTC().Format(time.RFC3339) != *moment {
			return false
		}
	}
	return !slices.ContainsFunc(d.Status, func(s string) bool { return !keeps(plain, &s) }) &&
		!slices.ContainsFunc(d.Nameservers, func(s string) bool { name, ok := readServer(s); return !ok || name != s }) &&
		(d.Registrar == nil || keeps(plain, d.Registrar.Name) && keeps(plain, d.Registrar.IANAID) &&
			keeps(webLink, d.Registrar.URL))
}

// keeps reports whether what reads a text of a server gives it as it is.
func keeps(read func(string) *string, s *string) bool {
	if s == nil {
		return true
	}
	again := read(*s)
	return again != nil && *again == *s
}
