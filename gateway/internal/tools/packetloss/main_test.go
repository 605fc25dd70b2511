package packetloss

import (
	"testing"

	"diagnostics/gateway/internal/tools/internal/toolstest"
)

func TestMain(m *testing.M) { toolstest.Main(m) }
