package toolstest

import (
	"testing"

	"go.uber.org/goleak"

	"diagnostics/gateway/internal/tool/finding"
)

// Main runs the tests of a tool. It ends them at the first mistake in the use of a catalogue: a code without a row, or
// an argument that the row does not declare.
func Main(m *testing.M) {
	finding.Mistaken = func(mistake string) { panic("catalogue: " + mistake) }
	goleak.VerifyTestMain(m)
}

// Rows holds the catalogue of a tool to the rules of package finding.
func Rows(t *testing.T, rows finding.Rows) {
	t.Helper()
	for _, problem := range rows.Check() {
		t.Error(problem)
	}
}
