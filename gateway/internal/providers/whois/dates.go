package whois

import (
	"slices"
	"strings"
	"time"
)

// The shapes in which registries write moments, beside those that the table has for one alone.
var (
	// withOffset have their offset from UTC; a fraction of a second is read by all.
	withOffset = []string{
		"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00",
		"2006-01-02 15:04:05 -0700",
	}
	// local name no zone.
	local = []string{
		"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006/01/02 15:04:05", "2006.01.02 15:04:05",
		"20060102 15:04:05", "02.01.2006 15:04:05",
	}
	// days have no time: they are not moved to another day by the registry's offset.
	days = []string{"2006-01-02", "2006/01/02", "2006.01.02", "20060102", "02.01.2006", "02-Jan-2006"}
)

// zones are the abbreviations that registries write after a time. Others are not known to be one zone's alone.
var zones = map[string]time.Duration{
	"UTC": 0, "GMT": 0, "JST": 9 * time.Hour, "CLT": -4 * time.Hour, "CLST": -3 * time.Hour,
}

// The years in which a domain name can have been registered, or expire.
const (
	firstYear = 1983
	lastYear  = 9999
)

// moment reads a moment as the registry writes it and gives it in RFC 3339, UTC, or nothing.
func (r *reading) moment(s string) *string {
	at, ok := r.parseDate(s)
	if !ok || at.Year() < firstYear || at.Year() > lastYear {
		return nil
	}
	return new(at.UTC().Format(time.RFC3339))
}

func (r *reading) parseDate(s string) (time.Time, bool) {
	s = strings.TrimRight(strings.Join(strings.Fields(s), " "), ".")
	for _, layout := range withOffset {
		if at, err := time.Parse(layout, s); err == nil {
			return at, true
		}
	}
	zone := r.zone
	if i := strings.LastIndexByte(s, ' '); i >= 0 {
		name := strings.ToUpper(strings.Trim(s[i+1:], "()"))
		if offset, known := zones[name]; known {
			s, zone = s[:i], time.FixedZone(name, int(offset/time.Second))
		}
	}
	return r.format.parseLocal(s, zone)
}

func (f format) parseLocal(s string, zone *time.Location) (time.Time, bool) {
	for _, layout := range slices.Concat(local, f.dates) {
		at, err := time.ParseInLocation(layout, s, zone)
		if err != nil {
			continue
		}
		// A registry that writes midnight for every time means the day, which must stay that day in UTC.
		if hour, minute, second := at.Clock(); hour == 0 && minute == 0 && second == 0 {
			at = time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		}
		return at, true
	}
	for _, layout := range days {
		if at, err := time.Parse(layout, s); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
