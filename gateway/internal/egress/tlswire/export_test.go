package tlswire

// Exported for the tests of their bounds.
const (
	MaxRecords   = maxRecords
	RecordOctets = recordOctets
	MaxAnswers   = maxAnswers
)
