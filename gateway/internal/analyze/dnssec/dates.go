package dnssec

import (
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
