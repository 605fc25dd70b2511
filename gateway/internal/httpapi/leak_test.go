package httpapi

import (
	"testing"

	"diagnostics/gateway/internal/tool/finding"

	"go.uber.org/goleak"
)

// net/http lingers for half a second on a connection that it closes with a body unread, so that the client sees the
// answer.
func TestMain(m *testing.M) {
	finding.Mistaken = func(mistake string) { panic(mistake) }
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}
