package config

import (
	"testing"

	"diagnostics/daemon/daemontest"
	"diagnostics/daemon/settings"
)

// TestEnvironmentFile keeps the example that the package installs equal to the code.
func TestEnvironmentFile(t *testing.T) {
	t.Parallel()
	daemontest.EnvFile(t, "../../../deploy/systemd/gateway.env",
		"Settings of diagnostics-gateway.service. Lines are defaults. To change one, uncomment it and run:\n"+
			"systemctl restart diagnostics-gateway\n"+
			"The service itself sets DIAGNOSTICS_WORKER_TOKEN_FILE=/etc/diagnostics/worker-token. "+
			"With the package diagnostics-worker on this host, ENABLE_WORKER_TOOLS and DIAGNOSTICS_WORKER_URL are set as well. "+
			"Settings in this file take precedence over all of these. AUDIT_LOG_FILE has to be below /var/log/diagnostics/.",
		settings.Of[Config](), *update)
}
