// Package waittest waits for facts that are announced by nothing a test could receive from: what a real process,
// socket or kernel does in its own time. It is the one poll of all tests.
package waittest

import (
	"testing"
	"time"
)

// patience ends a wait in vain; a busy machine takes its time.
const patience = 30 * time.Second

// Until waits until a condition holds. If it does not within half a minute, the test fails; what names the condition.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !Within(patience, holds) {
		t.Fatalf("not within %v: %s", patience, what)
	}
}

// Within waits until a condition holds, and reports whether it does before the limit is over.
func Within(limit time.Duration, holds func() bool) bool {
	end := time.Now().Add(limit)
	for pause := time.Millisecond; !holds(); pause = min(2*pause, 40*time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause) // the poll itself
	}
	return true
}
