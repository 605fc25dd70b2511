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

// timeFormat is RFC 3339 in UTC, to the millisecond.
const timeFormat = "2006-01-02T15:04:05.000Z"

// Line is the run as it stands in the file: a JSON object and a line feed.
func (r Run) Line() []byte {
	line, err := json.Marshal(struct {
		Time      string `json:"time"`
		Client    string `json:"client"`
		Tool      string `json:"tool"`
		Host      string `json:"host"`
		RequestID string `json:"requestId"`
	}{r.Time.UTC().Format(timeFormat), r.Client, r.Tool, r.Host, r.RequestID})
	if err != nil {
		panic(err) // strings alone always marshal
	}
	return append(line, '\n')
}
