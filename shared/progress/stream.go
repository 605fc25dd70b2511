package progress

import (
	"bytes"
	"encoding/json"
	"mime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// At most linesAtOnce steps are sent at once, and then linesPerSecond: 20 in any second.
const (
	linesAtOnce    = 8
	linesPerSecond = 12
)

// together is how long Copy waits for steps that can be sent with the first.
const together = 20 * time.Millisecond

// Reader receives steps, and sends what it has received on Flush. Both return an error where the client has left.
type Reader interface {
	Send(Step) error
	Flush() error
}

// Copy sends the steps of a feed as they change, until done is closed: what has not been sent by then is in the answer
// itself. It returns the errors of the reader.
func Copy(f *Feed, done <-chan struct{}, to Reader) error {
	var position uint64
	pace := rate.NewLimiter(linesPerSecond, linesAtOnce)
	for {
		s, next, ok, changed := f.Next(position)
		if !ok {
			position = next
			if ended(done, nil) {
				return nil
			}
			if err := to.Flush(); err != nil || ended(done, changed) {
				return err
			}
			endedWithin(done, together)
			continue
		}
		line := pace.Reserve()
		if wait := line.Delay(); wait > 0 {
			line.Cancel()
			if err := to.Flush(); err != nil || endedWithin(done, wait) {
				return err
			}
			continue // something newer may be there now
		}
		position = next
		if err := to.Send(s); err != nil {
			return err
		}
	}
}

// ended waits for a change, and reports whether done came without one. Without a change to wait for it looks only.
func ended(done, changed <-chan struct{}) bool {
	if changed == nil {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	select {
	case <-done:
		select {
		case <-changed:
			return false
		default:
			return true
		}
	case <-changed:
		return false
	}
}

func endedWithin(done <-chan struct{}, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// MediaType is what a stream of steps is sent as: a JSON value a line.
const MediaType = "application/x-ndjson"

// Line encodes a step: {"step":{"kind":"hop","hop":…,"atMs":12.5}} and a line feed. began is when the request
// came; bound is how long the run takes at most. A stage has the earlier of that and its own bound.
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
		if known, err := json.Marshal(s.Known); err == nil && len(known) > len("{}") {
			to.WriteByte(',')
			to.Write(known[1 : len(known)-1])
		}
		if !s.Until.IsZero() {
			bound = min(bound, max(s.Until.Sub(began), 0))
		}
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
	return strconv.FormatFloat(Milliseconds(d), 'f', -1, 64)
}

// Milliseconds returns a duration as steps have it, to the microsecond.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Wanted reports whether Accept fields (RFC 9110 section 12.5.1) request a stream: they name MediaType with a weight
// above 0, and at least that of application/json where that is listed too. A wildcard does not request one.
func Wanted(accept []string) bool {
	stream, plain := 0.0, 0.0
	for _, field := range accept {
		for item := range strings.SplitSeq(field, ",") {
			switch name, weight := mediaRange(item); name {
			case MediaType:
				stream = max(stream, weight)
			case "application/json":
				plain = max(plain, weight)
			}
		}
	}
	return stream > 0 && stream >= plain
}

// mediaRange reads one item; what cannot be read has the weight 0.
func mediaRange(item string) (name string, weight float64) {
	name, parameters, err := mime.ParseMediaType(item)
	if err != nil {
		return "", 0
	}
	q, given := parameters["q"]
	if !given {
		return name, 1
	}
	weight, err = strconv.ParseFloat(q, 64)
	if err != nil || !(weight >= 0 && weight <= 1) {
		return name, 0
	}
	return name, weight
}
