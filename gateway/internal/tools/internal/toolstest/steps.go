package toolstest

import (
	"encoding/json"
	"testing"
	"time"

	"diagnostics/shared/progress"
)

// AwaitStep waits until a feed reports a thing, and returns it with its place among all changes.
func AwaitStep(t testing.TB, f *progress.Feed, kind, key string) (value string, position uint64) {
	t.Helper()
	late := time.After(10 * time.Second)
	for position := uint64(0); ; {
		step, next, ok, changed := f.Next(position)
		position = next
		switch text, _ := step.Value.(json.RawMessage); {
		case ok && step.Kind == kind && step.Key == key:
			return string(text), position
		case ok:
			continue
		}
		select {
		case <-changed:
		case <-late:
			t.Errorf("%s %s is not reported", kind, key)
			return "", position
		}
	}
}
