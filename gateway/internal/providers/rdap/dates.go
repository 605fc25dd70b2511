package rdap

import (
	"strings"
	"time"

	"diagnostics/gateway/internal/providers/registry"
)

func readMoment(s string) string { return registry.ParseTime(s, time.UTC) }

// moments picks the events of a domain. Where an action comes more than once the first registration counts, and the
// last of all others.
func moments(events []event) Events {
	var registered, expires, updated, transferred, registrarExpires string
	for _, e := range events {
		at := readMoment(string(e.Date)) // of one form, so that texts compare as times do
		if at == "" {
			continue
		}
		switch strings.ToLower(string(e.Action)) {
		case "registration":
			if registered == "" || at < registered {
				registered = at
			}
		case "expiration":
			expires = max(expires, at)
		case "registrar expiration":
			registrarExpires = max(registrarExpires, at)
		case "last changed":
			updated = max(updated, at)
		case "transfer":
			transferred = max(transferred, at)
		}
	}
	return Events{
		Registered: pointer(registered), Expires: pointer(expires), Updated: pointer(updated),
		Transferred: pointer(transferred), RegistrarExpires: pointer(registrarExpires),
	}
}
