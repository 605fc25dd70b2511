package remote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"diagnostics/shared/progress"
)

// maxLines is more than any other side sends: at most 20 steps a second, for as long as a run lasts.
const maxLines = 4096

// maxStepLine is the length of the longest step, with what is around its value.
const maxStepLine = progress.MaxBytes + 1<<10

// stepPrefix begins the line of a step, as Step.Line writes it.
const stepPrefix = `{"step":`

// line is what is read of a line of a stream. Status is there in the last one alone, which has the keys of a plain
// answer beside it.
type line struct {
	Step       json.RawMessage `json:"step"`
	Error      string          `json:"error"`
	Status     int             `json:"status"`
	RetryAfter uint32          `json:"retryAfter"`
	Refused    string          `json:"refused"`
}

// Lines reads a stream (docs/contract.md#streams) within bounds.
type Lines struct {
	Name            string // of the other side
	MaxLine, MaxAll int    // bytes
	Step            func(step json.RawMessage)
	Refuse          func(*StatusError) error
}

// Read passes the steps on and returns the last line. Steps over progress.MaxBytes are dropped unread. Errors come from
// reading, from a stream that is not what was promised, and from Refuse for one that ends with a failure.
func (r Lines) Read(body io.Reader) ([]byte, error) {
	limited := &io.LimitedReader{R: body, N: int64(r.MaxAll) + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, r.MaxLine+1)
	for n := 0; lines.Scan(); n++ {
		if n == maxLines {
			return nil, fmt.Errorf("%s's stream has more than %d lines", r.Name, maxLines)
		}
		if len(lines.Bytes()) > maxStepLine && bytes.HasPrefix(lines.Bytes(), []byte(stepPrefix)) {
			continue
		}
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			// A line of another shape is a step of a kind to come, or the end of what was read.
			if json.Valid(lines.Bytes()) {
				continue
			}
			return nil, r.failure(limited, err)
		}
		switch {
		case l.Status == http.StatusOK:
			return append([]byte(nil), lines.Bytes()...), nil
		case l.Status != 0:
			return nil, r.Refuse(&StatusError{Name: r.Name, Status: l.Status, Reason: l.Refused, Said: l.Error,
				RetryAfter: retryAfter(strconv.FormatUint(uint64(l.RetryAfter), 10))})
		case len(l.Step) > 0 && len(l.Step) <= maxStepLine:
			r.Step(l.Step)
		}
	}
	err := lines.Err()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return nil, r.failure(limited, err)
}

// failure is why a stream ended without a last line.
func (r Lines) failure(limited *io.LimitedReader, err error) error {
	switch {
	case limited.N <= 0:
		return fmt.Errorf("%s's stream is over %d bytes", r.Name, r.MaxAll)
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("a line of %s's stream is over %d bytes", r.Name, r.MaxLine)
	}
	return err
}
