package whois

import (
	"testing"

	"diagnostics/gateway/internal/tool/finding"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	finding.Mistaken = func(mistake string) { panic(mistake) }
	goleak.VerifyTestMain(m)
}
