package registry

import (
	"slices"
	"strings"
	"time"
)

// The layouts in which registries write moments, also in RDAP, where RFC 9083 section 4.5 demands RFC 3339. All of them
// take a fraction of a second too.
var (
	offsetLayouts = []string{
		"2006-01-02T15:04:05Z07:00",
		"2006-01-02T15:04:05Z0700",
		"2006-01-02T15:04:05Z07",
		"2006-01-02T15:04Z07:00",
		"2006-01-02 15:04:05Z07:00",
		"2006-01-02 15:04:05 Z07:00",
		"2006-01-02 15:04:05 Z0700",
		"2006-01-02Z07:00",
		time.RFC1123,
		time.RFC1123Z,
	}
	localLayouts = []string{
		"2006-01-02T15:04:05",
		"2006-01-02T15:04",
		"2006-01-02 15:04:05",
		"2006-01-02 15:04",
		"2006/01/02 15:04:05",
		"2006.01.02 15:04:05",
		"20060102 15:04:05",
		"20060102150405",
		"02.01.2006 15:04:05",
		"2006-01-02",
		"2006/01/02",
		"2006.01.02",
		"20060102",
		"02.01.2006",
		"02-Jan-2006",
	}
)

// zones are the abbreviations that registries write after a time. Others are ambiguous.
var zones = map[string]time.Duration{
	"UTC": 0, "GMT": 0, "JST": 9 * time.Hour, "CLT": -4 * time.Hour, "CLST": -3 * time.Hour,
}

// No domain name was registered before 1985. Programs write a missing moment as the year 1, 1900 or 1970.
const (
	firstYear = 1983
	lastYear  = 9999
)

// ParseTime parses a registry's timestamp, in one of the layouts above or in own, and returns it as RFC 3339 in UTC,
// or an empty string. A time without an offset is in zone, except midnight: registries that write midnight for
// every time mean the day, which stays that day in UTC.
func ParseTime(s string, zone *time.Location, own ...string) string {
	s = strings.ToUpper(strings.TrimRight(strings.Join(strings.Fields(s), " "), ".")) // RFC 3339 allows t and z
	for _, layout := range offsetLayouts {
		if at, err := time.Parse(layout, s); err == nil {
			return formatTime(at)
		}
	}
	if i := strings.LastIndexByte(s, ' '); i >= 0 {
		name := strings.Trim(s[i+1:], "()")
		if offset, known := zones[name]; known {
			s, zone = s[:i], time.FixedZone(name, int(offset/time.Second))
		}
	}
	for _, layout := range slices.Concat(localLayouts, own) {
		at, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if hour, minute, second := at.Clock(); hour+minute+second > 0 {
			at = time.Date(at.Year(), at.Month(), at.Day(), hour, minute, second, 0, zone)
		}
		return formatTime(at)
	}
	return ""
}

func formatTime(at time.Time) string {
	at = at.UTC()
	if at.Year() < firstYear || at.Year() > lastYear {
		return ""
	}
	return at.Format(time.RFC3339)
}
