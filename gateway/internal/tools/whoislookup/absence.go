package whoislookup

import "diagnostics/gateway/internal/providers/rdap"

// What a registry's 404 says, and what it does not: registries answer it for names that anybody can register and for
// names that they keep back alike.
var (
	noSuchDomain = rdap.Notice{
		Title:       "No such registration",
		Description: "The registry has no such registration. Reserved and blocked names look the same.",
		FromService: true,
	}
	noSuchNetwork = rdap.Notice{
		Title:       "No such registration",
		Description: "The registry has no registration for a network around this address. Reserved blocks look the same.",
		FromService: true,
	}
)

// withAbsence adds to the registry's notices what its silence on the object means.
func withAbsence(notices []rdap.Notice, reason rdap.Reason, absence rdap.Notice) []rdap.Notice {
	if reason != rdap.NotFound {
		return notices
	}
	return append(notices, absence)
}
