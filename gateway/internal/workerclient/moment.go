package workerclient

import (
	"time"

	"diagnostics/shared/workerapi"
)

// tellMoment puts the moment of a measurement in UTC. A worker of an older version does not tell it: then it is when it
// was asked.
func tellMoment(m *workerapi.Measurement, asked time.Time) {
	if m.MeasuredAt.IsZero() {
		m.MeasuredAt = asked.Truncate(time.Millisecond)
	}
	m.MeasuredAt = m.MeasuredAt.UTC()
}
