// Package audit keeps the file by which an operator answers complaints of abuse: who had which tool run against which
// host, and when. It is the one place where an instance writes down the address of a visitor or a target, so it is off
// unless it is asked for, readable by its owner alone, and bounded.
package audit

import (
	"encoding/json"
	"time"
)

// Run is one run that began.
type Run struct {
	Time time.Time
	// Client is the visitor's address.
	Client string
	Tool   string
	// Host is the canonical target without port, path and query; empty for a tool that has none.
	Host      string
	RequestID string
}

// appendTime appends a time in UTC by RFC 3339, to the millisecond. Package time is several times as fast at its own
// format, which leaves out the zeros at the end: a microsecond more keeps them, and goes with what comes after them.
func appendTime(line []byte, at time.Time) []byte {
	begin := len(line)
	line = at.UTC().Truncate(time.Millisecond).Add(time.Microsecond).AppendFormat(line, time.RFC3339Nano)
	return append(line[:begin+len("2006-01-02T15:04:05.000")], 'Z')
}

// Line is the run as it stands in the file: a JSON object and a line feed.
func (r Run) Line() []byte {
	line := make([]byte, 0, 192)
	line = append(line, `{"time":"`...)
	line = appendTime(line, r.Time)
	line = appendText(append(line, `","client":`...), r.Client)
	line = appendText(append(line, `,"tool":`...), r.Tool)
	line = appendText(append(line, `,"host":`...), r.Host)
	line = appendText(append(line, `,"requestId":`...), r.RequestID)
	return append(line, '}', '\n')
}

// appendText appends a string of JSON. Nearly all here need no escapes.
func appendText(line []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string always marshals
			}
			return append(line, text...)
		}
	}
	return append(append(append(line, '"'), s...), '"')
}
