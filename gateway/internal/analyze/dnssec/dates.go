package dnssec

import (
	"fmt"
	"time"
)

// seconds is a time as signatures have it: in UTC, without fractions of a second.
func seconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// date is the point in time nearest to now that a field of a signature stands for (RFC 4034 section 3.1.5).
func (v *Validator) date(field uint32) time.Time {
	now := v.now.Unix()
	distance := int32(field - uint32(now)) //nolint:gosec // serial number arithmetic (RFC 1982)
	return time.Unix(now+int64(distance), 0).UTC()
}

// at sets Date and Off.
func (r *Reason) at(date, now time.Time) *Reason {
	r.Date, r.Off = date, now.Sub(date).Abs()
	return r
}

// clockSkew is how wrong a clock may be that was set by hand.
const clockSkew = time.Hour

// span is a duration in its largest unit, rounded down.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	n, unit := int(d/time.Second), "second"
	switch {
	case d >= 2*day:
		n, unit = int(d/day), "day"
	case d >= 2*time.Hour:
		n, unit = int(d/time.Hour), "hour"
	case d >= time.Minute:
		n, unit = int(d/time.Minute), "minute"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
