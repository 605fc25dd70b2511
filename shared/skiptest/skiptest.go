// Package skiptest skips tests that the machine at hand cannot run. Where everything is to run it fails them instead,
// so that no proof is missing without a word.
package skiptest

import (
	"os"
	"testing"
)

// Skip skips a test for a reason. With the environment variable CI set, the test fails.
func Skip(t testing.TB, reason any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("cannot run here, and CI skips nothing: %v", reason)
	}
	t.Skip(reason)
}
