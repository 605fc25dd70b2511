// Package logtest keeps what a test's log says.
package logtest

import (
	"bytes"
	"sync"
)

// Journal is a log's writer, for several goroutines at once. Its zero value is empty.
type Journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer; it never fails.
func (j *Journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

// String is all that was written so far.
func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}
