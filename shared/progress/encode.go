package progress

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// MediaType is what a stream of steps is sent as: a JSON value a line.
const MediaType = "application/x-ndjson"

// Line writes a step down: {"step":{"kind":"hop","hop":…,"atMs":12.5}} and a line feed. began is when the request
// came; bound, which a stage tells, is how long the run takes at most.
func (s Step) Line(to *bytes.Buffer, began time.Time, bound time.Duration) error {
	value, err := json.Marshal(s.Value)
	if err != nil {
		return err
	}
	kind, err := json.Marshal(s.Kind)
	if err != nil {
		return err
	}
	to.WriteString(`{"step":{"kind":`)
	to.Write(kind)
	to.WriteByte(',')
	to.Write(kind)
	to.WriteByte(':')
	to.Write(value)
	if s.Whom != "" {
		whom, err := json.Marshal(s.Whom)
		if err != nil {
			return err
		}
		to.WriteString(`,"whom":`)
		to.Write(whom)
	}
	to.WriteString(`,"atMs":`)
	to.WriteString(milliseconds(max(s.At.Sub(began), 0)))
	if s.Kind == KindStage {
		to.WriteString(`,"boundMs":`)
		to.WriteString(milliseconds(bound))
	}
	to.WriteString("}}\n")
	return nil
}

// LastLine makes the last line of a stream of an envelope, behind which it may write: with what would be the status,
// Retry-After and the reason of a refusal in a plain answer; "" is none.
func LastLine(envelope []byte, status int, retryAfter, refused string) []byte {
	line := append(bytes.TrimSuffix(envelope, []byte("}")), `,"status":`...)
	line = strconv.AppendInt(line, int64(status), 10)
	if retryAfter != "" {
		line = append(append(line, `,"retryAfter":`...), retryAfter...)
	}
	if refused != "" {
		line = strconv.AppendQuote(append(line, `,"refused":`...), refused)
	}
	return append(line, "}\n"...)
}

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 64)
}
