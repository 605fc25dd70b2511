package probe

import (
	"fmt"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/echo"
)

// port says what silence of a destination means for UDP and TCP probes, where it is silent.
func (e explanation) port() string {
	last := len(e.hops) - 1
	lost := e.trace.replied > 0 && e.hops[last].Received < e.hops[last].Sent
	silent := e.stop == workerapi.StopGapLimit || e.stop == workerapi.StopMaxHops
	port := e.trace.probe.Port
	switch e.trace.probe.Protocol {
	case echo.UDP:
		if lost {
			return fmt.Sprintf("Hosts limit how often they report a closed UDP port: probes that the destination did not "+
				"answer %s need not be lost.", e.within())
		}
		if silent {
			return fmt.Sprintf("A service on UDP port %d may ignore the probes, which looks the same as a firewall that "+
				"drops them.", port)
		}
	case echo.TCP:
		if silent {
			return fmt.Sprintf("A firewall may drop only what goes to TCP port %d: a port that the host serves is more "+
				"likely to answer.", port)
		}
	}
	return ""
}
