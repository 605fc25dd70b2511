package emaildnshealth

import (
	"testing"

	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func TestMain(m *testing.M) { toolstest.Main(m) }

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}
