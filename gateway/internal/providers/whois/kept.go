package whois

import (
	"slices"
	"time"

	"diagnostics/gateway/internal/providers/registry"
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
	if r.Line != "" && (r.Outcome != Reserved || !registry.Unchanged(plain, &r.Line)) {
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
	moment := func(s string) string { return registry.ParseTime(s, time.UTC) }
	if !registry.Unchanged(moment, d.Registered, d.Expires, d.RegistrarExpires, d.Updated, d.Transferred) {
		return false
	}
	return !slices.ContainsFunc(d.Status, func(s string) bool { return !registry.Unchanged(plain, &s) }) &&
		!slices.ContainsFunc(d.Nameservers, func(s string) bool { name, ok := readServer(s); return !ok || name != s }) &&
		(d.Registrar == nil || registry.Unchanged(plain, d.Registrar.Name, d.Registrar.IANAID) &&
			registry.Unchanged(webLink, d.Registrar.URL))
}
