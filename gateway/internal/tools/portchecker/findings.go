package portchecker

import (
	"fmt"
	"slices"

	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
)

// The codes of this tool.
const (
	codeOpen        = "OPEN"
	codeSome        = "OPEN_AT_SOME"
	codeClosed      = "CLOSED"
	codeFiltered    = "FILTERED"
	codeUnreachable = "UNREACHABLE"
	codeNotTried    = "NOT_TRIED"

	codeNotOpen = "ADDRESS_NOT_OPEN"
	codeExposed = "RISKY_SERVICE_OPEN"
	codeSkipped = "ADDRESS_NOT_TRIED"
	codeMore    = "MORE_ADDRESSES"
)

// %[1]s is the port, "Port 443 (usually https) of example.com".
var catalogue = finding.Catalogue{
	Conclusions: map[string]finding.Outcome{
		codeOpen:        {State: finding.OK, Message: "%[1]s is open."},
		codeSome:        {State: finding.Warned, Message: "%[1]s is open at only %[2]d of %[3]d tried addresses."},
		codeClosed:      {State: finding.Failed, Message: "%[1]s is closed: the connection is refused."},
		codeFiltered:    {State: finding.Warned, Message: "%[1]s does not answer."},
		codeUnreachable: {State: finding.Failed, Message: "%[1]s cannot be reached."},
		codeNotTried:    {State: finding.Unknown, Message: "%[1]s was not tried. %[2]s"},
	},
	Findings: map[string]finding.Entry{
		codeClosed: {Severity: finding.Fail, Group: finding.Broken, Weight: 80,
			Message: "%[1]s is closed at %[2]s: the connection is refused.",
			Remedy:  "Start the service that should listen on this port, or let the firewall admit connections to it."},
		codeFiltered: {Severity: finding.Warn, Group: finding.Broken, Weight: 65,
			Message: "%[1]s does not answer at %[2]s: a firewall may drop the packets, or there is no host.",
			Remedy:  "If the port should be open, let the firewall admit connections to it."},
		codeUnreachable: {Severity: finding.Fail, Group: finding.Broken, Weight: 80,
			Message: "%[1]s cannot be reached at %[2]s. %[3]s"},
		codeNotOpen: {Severity: finding.Warn, Group: finding.Broken, Weight: 65,
			Message: "%[1]s is not open at %[2]s. %[3]s",
			Remedy:  "Repair the server there, or remove its address from the DNS."},
		codeExposed: {Severity: finding.Warn, Group: finding.Safer, Weight: 58,
			Message: "%[1]s is open to the internet. Such a service is rarely meant for everyone.",
			Remedy:  "Let a firewall admit only the clients that need it."},
		codeSkipped: {Severity: finding.Info, Group: finding.Note, Weight: 5,
			Message: "%[1]s was not tried at %[2]s. %[3]s"},
		codeMore: {Severity: finding.Info, Group: finding.Note, Weight: 4,
			Message: "%[2]d more %[3]s of %[1]s %[4]s not tried."},
	},
}

// stateCodes are the codes of the states of a port other than open, as a conclusion and as a finding.
var stateCodes = map[string]string{
	portClosed: codeClosed, portFiltered: codeFiltered, portUnreachable: codeUnreachable, portSkipped: codeSkipped,
}

// riskyServices are rarely meant for everyone: databases, remote desktops, shared files, control of machines.
var riskyServices = []string{"mysql", "postgresql", "ms-sql-s", "redis", "mongodb", "couchdb", "memcache",
	"etcd-client", "ms-wbt-server", "rfb", "microsoft-ds", "netbios-ssn", "docker", "telnet"}

func (r Result) report(host target.Host) finding.Report {
	port := fmt.Sprintf("Port %d of %s", r.Port, host.Short())
	if r.Service != nil {
		port = fmt.Sprintf("Port %d (usually %s) of %s", r.Port, *r.Service, host.Short())
	}
	var findings []finding.Finding
	tried, open := 0, 0
	for _, a := range r.Addresses {
		if a.State != portSkipped {
			tried++
		}
		if a.State == portOpen {
			open++
		}
	}
	for _, a := range r.Addresses {
		code := stateCodes[a.State]
		switch {
		case a.State == portOpen:
			continue
		case a.State != portSkipped && open > 0:
			code = codeNotOpen
		}
		findings = append(findings, catalogue.Find(code, port, a.Address, *a.Reason).About(a.Address))
	}
	if open > 0 && r.Service != nil && slices.Contains(riskyServices, *r.Service) {
		findings = append(findings, catalogue.Find(codeExposed, port))
	}
	if r.Untried > 0 {
		findings = append(findings, catalogue.Find(codeMore, host.Short(), r.Untried,
			text.Number(r.Untried, "address", "addresses"), text.Number(r.Untried, "was", "were")))
	}
	return finding.NewReport(r.conclude(port, open, tried), findings...)
}

// conclude counts the addresses that were tried alone.
func (r Result) conclude(port string, open, tried int) finding.Conclusion {
	switch {
	case tried == 0:
		return catalogue.Conclude(codeNotTried, port, *r.Addresses[0].Reason)
	case open == tried:
		return catalogue.Conclude(codeOpen, port)
	case open > 0:
		return catalogue.Conclude(codeSome, port, open, tried)
	}
	return catalogue.Conclude(stateCodes[r.State], port)
}
