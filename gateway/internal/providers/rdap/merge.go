package rdap

import "slices"

// merged joins what the registry and the registrar say of a name. The registry's word counts for what it keeps itself
// (dates, status, nameservers, DNSSEC), the registrar's for its customers and its own abuse desk; each fills what the
// other left out. Neither is changed: others may be reading them.
func merged(registry, registrar *Domain) *Domain {
	out := *registry
	if out.Handle == nil {
		out.Handle = registrar.Handle
	}
	out.Truncated = registry.Truncated || registrar.Truncated
	if len(out.Status) == 0 {
		out.Status = registrar.Status
	}
	if len(out.Nameservers) == 0 {
		out.Nameservers = registrar.Nameservers
	}
	out.Events = Events{
		Registered:  either(registry.Events.Registered, registrar.Events.Registered),
		Expires:     either(registry.Events.Expires, registrar.Events.Expires),
		Updated:     either(registry.Events.Updated, registrar.Events.Updated),
		Transferred: either(registry.Events.Transferred, registrar.Events.Transferred),
	}
	if len(registrar.Contacts) > 0 {
		out.Contacts = registrar.Contacts
	}
	out.Redactions = boundRedactions(slices.Concat(registry.Redactions, registrar.Redactions), &out.Truncated)
	out.Registrar = mergedRegistrar(registry.Registrar, registrar.Registrar)
	return &out
}

func mergedRegistrar(registry, own *Registrar) *Registrar {
	switch {
	case own == nil:
		return registry
	case registry == nil:
		return own
	}
	return &Registrar{
		Name:       either(registry.Name, own.Name),
		IANAID:     either(registry.IANAID, own.IANAID),
		URL:        either(registry.URL, own.URL),
		AbuseEmail: either(own.AbuseEmail, registry.AbuseEmail),
		AbusePhone: either(own.AbusePhone, registry.AbusePhone),
	}
}

func either(a, b *string) *string {
	if a != nil {
		return a
	}
	return b
}
