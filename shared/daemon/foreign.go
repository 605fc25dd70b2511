package daemon

import (
	"bytes"
	"log"
	"sync/atomic"
)

// What libraries print by themselves is other people's text: net/http alone prints up to 4 KB of what a server sends
// after its answer, and a line for each HTTP/2 frame that it does not know. None of it is ours to keep, so it is
// counted and dropped.

var foreignLines atomic.Uint64

// ForeignLines is how many lines the libraries of this process have tried to print since its start.
func ForeignLines() uint64 { return foreignLines.Load() }

// foreign takes the lines of libraries.
type foreign struct{}

// Write implements io.Writer.
func (foreign) Write(p []byte) (int, error) {
	foreignLines.Add(uint64(bytes.Count(p, newline))) // #nosec G115 -- a count is not negative
	return len(p), nil
}

// foreignLog is for libraries that take a logger.
func foreignLog() *log.Logger { return log.New(foreign{}, "", 0) }
