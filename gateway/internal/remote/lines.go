package remote

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

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

// Read passes the steps on and returns the last line. Errors are those of reading, those of a stream that is not what
// was promised, and that of Refuse for one that ends with a failure.
func (r Lines) Read(body io.Reader) ([]byte, error) {
	limited := &io.LimitedReader{R: body, N: int64(r.MaxAll) + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, r.MaxLine+1)
	for lines.Scan() {
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
		case l.Step != nil:
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
