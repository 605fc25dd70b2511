package probe

import (
	"fmt"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/echo"
)

// port says what silence of a destination means for UDP and TCP probes, where it is silent.
func (s explanation) port() string {
	last := len(s.hops) - 1
	lost := s.trace.replied > 0 && s.hops[last].Received < s.hops[last].Sent
	silent := s.stop == workerapi.StopGapLimit || s.stop == workerapi.StopMaxHops
	port := s.trace.probe.Port
	switch s.trace.probe.Protocol {
	case echo.UDP:
		if lost {
			return fmt.Sprintf("Hosts limit how often they report a closed UDP port: probes that the destination did not "+
				"answer %s need not be lost.", s.within())
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
