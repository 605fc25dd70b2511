package whois

import (
	"cmp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // the images have no time zones, and registries write local times
)

// fact is what a line states.
type fact int

const (
	_ fact = iota
	isName
	isStatus
	// isState is a status that may go on with the day on which it ends: "Connected (2027/03/31)".
	isState
	isRegistrar
	isRegistrarURL
	isRegistrarID
	isRegistered
	isExpires
	// isRegistrarExpires is the end of the registration by the registrar's account.
	isRegistrarExpires
	isUpdated
	isTransferred
	isNameserver
	isSigned
	// isKey is a line that signed delegations alone have.
	isKey
)

// format is how one registry writes. Nothing but facts is read of its text.
type format struct {
	tlds []string
	// ask is the line that is sent, with %s for the name; the name alone where empty.
	ask    string
	layout layout
	// facts are by "block/key", by "key" outside of blocks, or by "*/key" in any.
	facts map[string]fact
	// free are the statuses of names that are not registered.
	free []string
	// absent are the beginnings of sentences that say so, with %s for the name.
	absent []string
	// zone is that of times without an offset, where the registry documents it; UTC where empty.
	zone string
	// dates are shapes of this registry beyond those that all share.
	dates []string
}

// formats are those of top-level domains that IANA's bootstrap registry of RDAP did not list on 30 September 2026, the
// largest first. Of the others that it did not list, .co, .io, .me, .nz, .us and .za have the common format; the
// servers of .ch, .li and .es answer only admitted clients, and .gr and .vn have none.
var formats = []format{
	{
		tlds: []string{"cn", "xn--fiqs8s", "xn--fiqz9s"}, zone: "Asia/Shanghai",
		facts: map[string]fact{
			"domain name": isName, "domain status": isStatus, "sponsoring registrar": isRegistrar,
			"registration time": isRegistered, "expiration time": isExpires, "name server": isNameserver, "dnssec": isSigned,
		},
		absent: []string{"no matching record"},
	},
	{
		tlds: []string{"de"}, ask: "-T dn,ace %s", layout: paragraphs,
		facts: map[string]fact{
			"domain/domain": isName, "domain/status": isStatus, "domain/nserver": isNameserver, "domain/changed": isUpdated,
			"domain/dnskey": isKey,
		},
		free: []string{"free"},
	},
	{
		tlds: []string{"ru", "su", "xn--p1ai"}, layout: paragraphs,
		facts: map[string]fact{
			"domain/domain": isName, "domain/state": isStatus, "domain/nserver": isNameserver, "domain/registrar": isRegistrar,
			"domain/created": isRegistered, "domain/paid-till": isExpires,
		},
		absent: []string{"no entries found for the selected source"},
	},
	{
		tlds: []string{"eu", "xn--e1a4c", "xn--qxa6a"}, layout: colonHeads,
		facts: map[string]fact{
			"domain": isName, "status": isStatus, "registrar/name": isRegistrar, "registrar/website": isRegistrarURL,
			"name servers/": isNameserver, "keys/": isKey,
		},
		free: []string{"available"},
	},
	{
		tlds: []string{"it"}, layout: bareHeads, zone: "Europe/Rome",
		facts: map[string]fact{
			"domain": isName, "status": isStatus, "signed": isSigned, "created": isRegistered, "last update": isUpdated,
			"expire date": isExpires, "registrar/organization": isRegistrar, "registrar/web": isRegistrarURL,
			"nameservers/": isNameserver,
		},
		free: []string{"available"},
	},
	{
		tlds: []string{"jp"}, ask: "%s/e", layout: brackets, zone: "Asia/Tokyo",
		facts: map[string]fact{
			"domain name": isName, "name server": isNameserver, "signing key": isKey, "status": isStatus, "state": isState,
			"lock status": isStatus, "created on": isRegistered, "registered date": isRegistered, "expires on": isExpires,
			"last updated": isUpdated, "last update": isUpdated,
		},
		absent: []string{"no match!!"},
	},
	{
		tlds: []string{"be"}, layout: colonHeads,
		facts: map[string]fact{
			"domain": isName, "status": isStatus, "registered": isRegistered, "registrar/name": isRegistrar,
			"registrar/website": isRegistrarURL, "nameservers/": isNameserver, "keys/": isKey, "flags/": isStatus,
		},
		free:  []string{"available"},
		dates: []string{"Mon Jan 2 2006"},
	},
	{
		tlds: []string{"at"}, layout: paragraphs, zone: "Europe/Vienna",
		facts: map[string]fact{
			"domain/domain": isName, "domain/registrar": isRegistrar, "domain/nserver": isNameserver,
			"domain/changed": isUpdated,
		},
		absent: []string{"nothing found"},
	},
	{
		tlds: []string{"se", "nu"},
		facts: map[string]fact{
			"domain": isName, "state": isStatus, "status": isStatus, "created": isRegistered, "modified": isUpdated,
			"expires": isExpires, "transferred": isTransferred, "nserver": isNameserver, "dnssec": isSigned,
			"registrar": isRegistrar,
		},
		absent: []string{`domain "%s" not found`},
	},
	{
		tlds: []string{"dk"}, layout: bareHeads,
		facts: map[string]fact{
			"domain": isName, "registered": isRegistered, "expires": isExpires, "registrar": isRegistrar, "status": isStatus,
			"dnssec": isSigned, "nameservers/hostname": isNameserver,
		},
		absent: []string{"no entries found for the selected source"},
	},
	{
		tlds: []string{"mx"}, layout: colonHeads,
		facts: map[string]fact{
			"domain name": isName, "created on": isRegistered, "expiration date": isExpires, "last updated on": isUpdated,
			"registrar": isRegistrar, "url": isRegistrarURL, "name servers/dns": isNameserver,
		},
		absent: []string{"object_not_found", "no_se_encontro_el_objeto"},
	},
	{
		tlds: []string{"ir", "xn--mgba3a4f16a"}, layout: paragraphs,
		facts: map[string]fact{
			"domain/domain": isName, "domain/ascii": isName, "domain/nserver": isNameserver, "domain/last-updated": isUpdated,
			"domain/expire-date": isExpires,
		},
		absent: []string{"error:101: no entries found"},
	},
	{
		tlds: []string{"tr"}, layout: starHeads,
		facts: map[string]fact{
			"domain name": isName, "domain status": isStatus, "registrar/organization name": isRegistrar,
			"domain servers/": isNameserver, "additional info/created on": isRegistered,
			"additional info/expires on": isExpires,
		},
		absent: []string{"no match found for %s"},
		dates:  []string{"2006-Jan-02"},
	},
	{
		tlds: []string{"pt"}, zone: "Europe/Lisbon",
		facts: map[string]fact{
			"domain": isName, "domain status": isStatus, "creation date": isRegistered, "expiration date": isExpires,
			"name server": isNameserver,
		},
		absent: []string{"%s - no match"},
		dates:  []string{"02/01/2006 15:04:05", "02/01/2006"},
	},
	{
		tlds: []string{"ro"},
		facts: map[string]fact{
			"domain name": isName, "registered on": isRegistered, "expires on": isExpires, "registrar": isRegistrar,
			"referral url": isRegistrarURL, "dnssec": isSigned, "nameserver": isNameserver, "domain status": isStatus,
		},
		absent: []string{"no entries found for the selected source"},
	},
	{
		tlds: []string{"hu"}, zone: "Europe/Budapest",
		facts:  map[string]fact{"domain": isName, "record created": isRegistered},
		absent: []string{"nincs talalat", "no match"},
	},
	{
		tlds: []string{"cl"}, zone: "America/Santiago",
		facts: map[string]fact{
			"domain name": isName, "registrar name": isRegistrar, "registrar url": isRegistrarURL, "creation date": isRegistered,
			"expiration date": isExpires, "name server": isNameserver,
		},
		absent: []string{"%s: no entries found"},
	},
	{
		tlds: []string{"sk"}, layout: paragraphs,
		facts: map[string]fact{
			"domain/domain": isName, "domain/created": isRegistered, "domain/valid until": isExpires,
			"domain/updated": isUpdated, "domain/domain status": isStatus, "domain/nameserver": isNameserver,
			"domain/dnssec": isSigned, "registrar/organization": isRegistrar,
		},
		absent: []string{"domain not found"},
	},
	{
		tlds: []string{"hk", "xn--j6w193g"}, layout: longHeads,
		facts: map[string]fact{
			"*/domain name": isName, "*/domain status": isStatus, "*/dnssec": isSigned, "*/registrar name": isRegistrar,
			"*/domain name commencement date": isRegistered, "*/expiry date": isExpires,
			"name servers information/": isNameserver,
		},
		absent: []string{"the domain has not been registered"},
		dates:  []string{"02-01-2006"},
	},
	{
		tlds: []string{"il", "xn--4dbrk0ce"},
		facts: map[string]fact{
			"domain": isName, "nserver": isNameserver, "validity": isExpires, "status": isStatus, "dnssec": isSigned,
			"registrar name": isRegistrar, "registrar info": isRegistrarURL,
		},
		absent: []string{"no data was found to match the request criteria"},
		dates:  []string{"02-01-2006"},
	},
	{
		tlds: []string{"rs", "xn--90a3ac"}, zone: "Europe/Belgrade",
		facts: map[string]fact{
			"domain name": isName, "domain status": isStatus, "registration date": isRegistered, "modification date": isUpdated,
			"expiration date": isExpires, "registrar": isRegistrar, "dns": isNameserver, "dnssec signed": isSigned,
		},
		absent: []string{"error:103: domain is not registered"},
	},
}

// common is the format of ICANN's registries, which many others have taken over (.co, .us and .nz among them). It is
// tried where the table has no other.
var common = format{
	facts: map[string]fact{
		"domain name": isName, "registrar": isRegistrar, "registrar url": isRegistrarURL, "registrar iana id": isRegistrarID,
		"creation date": isRegistered, "updated date": isUpdated, "registry expiry date": isExpires,
		"registrar registration expiration date": isRegistrarExpires, "domain status": isStatus, "name server": isNameserver,
		"dnssec": isSigned,
	},
	absent: []string{
		"no match for", "no data found", "domain not found", "no object found", "the queried object does not exist",
		"the domain has not been registered", "no entries found", "not found",
	},
}

// formatOf gives that of a top-level domain (A-label, lower case).
func formatOf(tld string) format {
	for _, f := range formats {
		if slices.Contains(f.tlds, tld) {
			return f
		}
	}
	return common
}

func (f format) question(name string) string {
	return strings.Replace(cmp.Or(f.ask, "%s"), "%s", name, 1)
}

// factOf returns the fact that an entry is, if it is one.
func (f format) factOf(e entry) fact {
	key := e.key
	if e.block != "" {
		key = e.block + "/" + e.key
	}
	if known, ok := f.facts[key]; ok {
		return known
	}
	return f.facts["*/"+e.key]
}

// location is where the registry's clocks are.
func (f format) location() *time.Location {
	if at, err := time.LoadLocation(f.zone); err == nil {
		return at
	}
	return time.UTC
}
