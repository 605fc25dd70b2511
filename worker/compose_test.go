package main

import (
	"testing"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/settings"
)

func TestComposePassesSettingsOn(t *testing.T) {
	t.Parallel()
	daemontest.Compose(t, "../docker-compose.yml", "worker", settings.Of[Config]())
}
