package calls

import "time"

// Each line but the last two is one of the wallReadings.
func clock(at, other time.Time, d time.Duration) []any {
	return []any{
		at.Unix(),
		at.UnixMilli(),
		at.UnixMicro(),
		at.UnixNano(),
		at.UTC(),
		at.Local(),
		at.In(time.UTC),
		at.Round(d),
		at.Truncate(d),
		at.AddDate(0, 0, 1),
		at.Sub(other),
		time.Unix(0, 0),
	}
}
