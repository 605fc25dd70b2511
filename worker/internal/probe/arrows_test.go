package probe

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestArrows keeps the two halves of the engine apart: probes are proved on a simulated network, so they may not know
// sockets; and the ICMP engine serves whatever sends echo requests, so it may not know hops.
func TestArrows(t *testing.T) {
	t.Parallel()
	const module = "diagnostics/worker/internal/"
	for from, never := range map[string][]string{
		module + "probe":    {module + "icmp", "net", "golang.org/x/sys/unix", "golang.org/x/net/ipv4", "golang.org/x/net/ipv6"},
		module + "icmp":     {module + "probe", "diagnostics/shared/workerapi"},
		module + "exchange": {module + "probe", module + "icmp", "net"},
	} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", from).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, dependency := range strings.Fields(string(out)) {
			if slices.Contains(never, dependency) {
				t.Errorf("%s depends on %s", from, dependency)
			}
		}
	}
}
