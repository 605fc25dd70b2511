package main

import (
	"testing"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/settings"
)

// TestEnvironmentFile keeps the example that the package installs equal to the code.
func TestEnvironmentFile(t *testing.T) {
	t.Parallel()
	daemontest.EnvFile(t, "../deploy/systemd/worker.env",
		"Settings of diagnostics-worker.service. Lines are defaults. To change one, uncomment it and run:\n"+
			"systemctl restart diagnostics-worker\n"+
			"The service itself sets DIAGNOSTICS_WORKER_TOKEN_FILE=/etc/diagnostics/worker-token. "+
			"Settings in this file take precedence. The service has a user of its own, so RUN_AS_UID and RUN_AS_GID are of no use.",
		settings.Of[Config](), *update)
}
