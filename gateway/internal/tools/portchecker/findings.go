package portchecker

import (
	"slices"

	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
)

// stateCodes are the codes of the states of a port other than open, as a conclusion and as a finding.
var stateCodes = map[string]string{
	portClosed: codeClosed, portFiltered: codeFiltered, portUnreachable: codeUnreachable, portSkipped: codeSkipped,
}

// riskyServices are rarely meant for everyone: databases, remote desktops, shared files, control of machines.
var riskyServices = []string{"mysql", "postgresql", "ms-sql-s", "redis", "mongodb", "couchdb", "memcache",
	"etcd-client", "ms-wbt-server", "rfb", "microsoft-ds", "netbios-ssn", "docker", "telnet"}

func (r Result) report(host target.Host) finding.Report {
	port := finding.Args{"port": r.Port, "host": host.Short()}
	if r.Service != nil {
		port["service"] = *r.Service
	}
	report := rows.Draft()
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
		args := port.With(finding.Args{"address": a.Address})
		switch {
		case a.State == portOpen:
		case a.State == portSkipped:
			report.Add(codeSkipped, a.Address, args.With(a.why))
		case open > 0:
			report.Add(codeNotOpen, a.Address, args.With(a.why))
		case a.State == portUnreachable:
			report.Add(codeUnreachable, a.Address, args.With(a.why))
		default:
			report.Add(stateCodes[a.State], a.Address, args)
		}
	}
	if open > 0 && r.Service != nil && slices.Contains(riskyServices, *r.Service) {
		report.Add(codeExposed, "", port)
	}
	if r.Untried > 0 {
		report.Add(codeMore, "", finding.Args{"host": host.Short(), "count": r.Untried})
	}
	// Only addresses that were tried count.
	switch {
	case tried == 0:
		return report.Conclude(codeNotTried, port.With(r.Addresses[0].why))
	case open == tried:
		return report.Conclude(codeOpen, port)
	case open > 0:
		return report.Conclude(codeSome, port.With(finding.Args{"open": open, "tried": tried}))
	}
	return report.Conclude(stateCodes[r.State], port)
}
