package rdap

import (
	"slices"
	"strings"
	"time"
)

// layouts are the shapes in which registries write moments. RFC 9083 section 4.5 wants RFC 3339; a fraction of a second
// is read by all of them, and what names no offset is taken for UTC.
var layouts = []string{
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05Z07",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05 Z0700",
	"2006-01-02 15:04:05 UTC",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02Z07:00",
	"2006-01-02",
	"2006/01/02 15:04:05",
	"2006/01/02",
	"20060102150405",
	"20060102",
	"2006.01.02 15:04:05",
	"2006.01.02",
	"02.01.2006 15:04:05",
	"02.01.2006",
	time.RFC1123,
	time.RFC1123Z,
}

// No domain name was registered before 1985; earlier moments are what programs make of a missing one (year 1, 1900,
// 1970).
const firstYear = 1983

func parseDate(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	upper := strings.ToUpper(s) // RFC 3339 allows t and z
	for _, layout := range layouts {
		for _, spelling := range []string{s, upper} {
			if at, err := time.Parse(layout, spelling); err == nil {
				at = at.UTC()
				return at, at.Year() >= firstYear && at.Year() <= 9999
			}
		}
	}
	return time.Time{}, false
}

// moments picks the events of a domain. Where an action comes more than once the first registration counts, and the
// last of all others.
func moments(events []event) Events {
	var registered, expires, updated, transferred, registrarExpires time.Time
	for _, e := range events {
		at, ok := parseDate(string(e.Date))
		if !ok {
			continue
		}
		switch strings.ToLower(string(e.Action)) {
		case "registration":
			if registered.IsZero() || at.Before(registered) {
				registered = at
			}
		case "expiration":
			expires = later(expires, at)
		case "registrar expiration":
			registrarExpires = later(registrarExpires, at)
		case "last changed":
			updated = later(updated, at)
		case "transfer":
			transferred = later(transferred, at)
		}
	}
	return Events{
		Registered: momentOf(registered), Expires: momentOf(expires),
		Updated: momentOf(updated), Transferred: momentOf(transferred), RegistrarExpires: momentOf(registrarExpires),
	}
}

func later(a, b time.Time) time.Time {
	return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare)
}

func momentOf(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(t.Format(time.RFC3339))
}
