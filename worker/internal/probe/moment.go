package probe

import "time"

// moment is a time as results tell it.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
