package rdap

import (
	"cmp"
	"slices"
)

// merged joins what the registry and the registrar say of a name. The registry's word counts for what it keeps itself
// (dates, status, nameservers, DNSSEC), the registrar's for its customers and its own abuse desk; each fills what the
// other left out. Neither is changed: others may be reading them.
func merged(registry, registrar *Domain) *Domain {
	out := *registry
	out.Handle = cmp.Or(registry.Handle, registrar.Handle)
	out.Truncated = registry.Truncated || registrar.Truncated
	if len(out.Status) == 0 {
		out.Status = registrar.Status
	}
	if len(out.Nameservers) == 0 {
		out.Nameservers = registrar.Nameservers
	}
	out.Events = Events{
		Registered:  cmp.Or(registry.Events.Registered, registrar.Events.Registered),
		Expires:     cmp.Or(registry.Events.Expires, registrar.Events.Expires),
		Updated:     cmp.Or(registry.Events.Updated, registrar.Events.Updated),
		Transferred: cmp.Or(registry.Events.Transferred, registrar.Events.Transferred),
		RegistrarExpires: cmp.Or(registrar.Events.RegistrarExpires, registry.Events.RegistrarExpires,
			registrar.Events.Expires),
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
		Name:       cmp.Or(registry.Name, own.Name),
		IANAID:     cmp.Or(registry.IANAID, own.IANAID),
		URL:        cmp.Or(registry.URL, own.URL),
		AbuseEmail: cmp.Or(own.AbuseEmail, registry.AbuseEmail),
		AbusePhone: cmp.Or(own.AbusePhone, registry.AbusePhone),
	}
}
