package config

import (
	"testing"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/settings"
)

// The image sets the listener.
func TestComposePassesSettingsOn(t *testing.T) {
	t.Parallel()
	daemontest.Compose(t, "../../../docker-compose.yml", "gateway", settings.Of[Config](), "GATEWAY_LISTEN_ADDR")
}
