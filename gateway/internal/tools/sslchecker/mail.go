package sslchecker

import (
	"errors"
	"io"
	"slices"
	"sync"
	"syscall"

	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// isMail reports whether a port is one of mail: its servers count connections, and some report clients that come often
// to block lists. They get one connection at a time, and few in all.
func isMail(port uint16) bool {
	return slices.Contains([]uint16{25, 110, 143, 465, 587, 993, 995}, port)
}

// maxMailConnections is for a whole run to a port of mail.
const maxMailConnections = 8

// mayConnect counts a connection, and reports whether it may be made.
func (i *inspection) mayConnect() bool {
	n := i.connections.Add(1)
	return !isMail(i.to.Port) || n <= maxMailConnections
}

// errNoConnections marks a connection to a port of mail that was not made.
var errNoConnections = errors.New("no more connections to this port")

// dialogues counts what connections to an address came to, up to where TLS could begin.
type dialogues struct {
	Offered int `json:"offered"` // STARTTLS
	Without int `json:"without"` // the offer of it
	Refused int `json:"refused"` // by a line, an end or a reset
	// Line is that of the first refusal, empty where it had none.
	Line string `json:"line"`
}

// maxLine bounds the line of a refusal in a sentence.
const maxLine = 200

// add counts a dialogue that ended with an error, or nil.
func (d *dialogues) add(err error) {
	var rejected *starttlsRejected
	switch {
	case err == nil:
		d.Offered++
	case errors.Is(err, errStarttlsNotOffered):
		d.Without++
	case errors.As(err, &rejected):
		d.refuse(text.Clean(rejected.line, maxLine))
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, syscall.ECONNREFUSED):
		d.refuse("")
	}
}

func (d *dialogues) refuse(line string) {
	if d.Refused++; d.Refused == 1 {
		d.Line = line
	}
}

func (d dialogues) plus(e dialogues) dialogues {
	if d.Refused == 0 {
		d.Line = e.Line
	}
	d.Offered, d.Without, d.Refused = d.Offered+e.Offered, d.Without+e.Without, d.Refused+e.Refused
	return d
}

// tally counts dialogues of several goroutines.
type tally struct {
	mu    sync.Mutex
	count dialogues
}

func (t *tally) add(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count.add(err)
}

func (t *tally) sum() dialogues {
	if t == nil {
		return dialogues{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// findings are about dialogues that did not all come to the same.
func (d dialogues) findings() []finding.Finding {
	draft := rows.Draft()
	before := d.Offered + d.Without
	if d.Offered > 0 && d.Without > 0 {
		draft.Add("STARTTLS_INCONSISTENT", "", finding.Args{"offered": d.Offered, "connections": before})
	}
	if d.Offered > 0 && d.Refused > 0 {
		draft.Add("CONNECTIONS_REFUSED", "", finding.Args{"connections": before, "line": d.Line})
	}
	return draft.Findings()
}
