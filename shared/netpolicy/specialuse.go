package netpolicy

import (
	"fmt"
	"slices"
	"strings"
)

// Zone is a name that is not part of the public DNS, or not the same name everywhere. It stands for itself and all
// below it.
type Zone struct {
	Name string
	// Source is the document behind the row.
	Source string
	// Kind completes the sentence "<name> is …".
	Kind string
}

const (
	kindReserved = "a reserved name that is not in the public DNS"
	kindPrivate  = "a name for private networks"
	kindLocal    = "a name of the local machine"
	kindReverse  = "the reverse name of a non-public address"
	kindService  = "a name that each network resolves for itself"
	kindCloud    = "a name that a cloud resolves for its own machines"
)

// specialNames are the IANA Special-Use Domain Names registry and the top-level names that private networks use
// although they are not reserved. The registry's example.com, example.net and example.org are missing: they are
// delegated and answer like any other name (RFC 6761 section 6.5 asks for no special treatment).
var specialNames = []Zone{
	{"localhost", "RFC 6761", kindLocal},
	{"test", "RFC 6761", kindReserved},
	{"invalid", "RFC 6761", kindReserved},
	{"example", "RFC 6761", kindReserved},
	{"local", "RFC 6762", kindPrivate},
	{"onion", "RFC 7686", "a name of the Tor network"},
	{"alt", "RFC 9476", "a name outside the DNS"},

	{"home.arpa", "RFC 8375", kindPrivate},
	{"resolver.arpa", "RFC 9462", kindService},
	{"service.arpa", "RFC 9665", kindService},
	// The answers are about the asker's own translator (RFC 8880 section 7), which concerns no one but the
	// operator's.
	{"ipv4only.arpa", "RFC 8880", kindService},
	{"eap-noob.arpa", "RFC 9140", kindReserved},
	{"eap.arpa", "RFC 9965", kindReserved},
	{"6tisch.arpa", "RFC 9031", kindReserved},

	{"internal", "ICANN 2024", kindPrivate},
	{"intranet", "RFC 6762", kindPrivate},
	{"private", "RFC 6762", kindPrivate},
	{"lan", "RFC 6762", kindPrivate},
	{"corp", "ICANN 2018", kindPrivate},
	{"home", "ICANN 2018", kindPrivate},
	{"mail", "ICANN 2018", kindPrivate},
	{"localdomain", "resolver default", kindLocal},
	{"localdomain4", "resolver default", kindLocal},
	{"localdomain6", "resolver default", kindLocal},
	{"localhost4", "resolver default", kindLocal},
	{"localhost6", "resolver default", kindLocal},
	{"svc", "Kubernetes", kindPrivate},
	{"consul", "Consul", kindPrivate},
}

// cloudNames are what the resolvers of clouds answer for the machines inside alone: the metadata services, which hand
// out credentials, and the zones of the machines' own names. `internal` above covers the others that are documented
// (metadata.google.internal, ec2.internal, compute.internal, auto.internal); DigitalOcean, Alibaba, Huawei and others
// document an address and no name.
var cloudNames = []Zone{
	// cloud.google.com/compute/docs/metadata/querying-metadata
	{"metadata.goog", "Google Cloud", kindCloud},
	// learn.microsoft.com/azure/virtual-network/virtual-networks-name-resolution-for-vms-and-role-instances and the same
	// page of docs.azure.cn
	{"internal.cloudapp.net", "Microsoft Azure", kindCloud},
	{"internal.chinacloudapp.cn", "Microsoft Azure", kindCloud},
	// docs.oracle.com/iaas/Content/Network/Concepts/dns.htm
	{"oraclevcn.com", "Oracle Cloud", kindCloud},
	// cloud.ibm.com/docs/vpc?topic=vpc-imd-get-metadata
	{"api.metadata.cloud.ibm.com", "IBM Cloud", kindCloud},
	// tencentcloud.com/document/product/213/4934
	{"metadata.tencentyun.com", "Tencent Cloud", kindCloud},
	// deploy.equinix.com/developers/docs/metal/server-metadata/metadata; the older name is its alias. Both lead to public
	// addresses of a metadata service for each machine, so that the address alone would not be refused.
	{"metadata.platformequinix.com", "Equinix Metal", kindCloud},
	{"metadata.packet.net", "Equinix Metal", kindCloud},
	// docs.openstack.org: nova's dhcp_domain and neutron's dns_domain where the operator sets no other
	{"novalocal", "OpenStack", kindCloud},
	{"openstacklocal", "OpenStack", kindCloud},
}

// reverseZones are the locally served zones of RFC 6303 and the reverse zones of the Special-Use Domain Names registry.
// The test compares each with Judge.
var reverseZones = []Zone{
	{"0.in-addr.arpa", "RFC 6303", kindReverse},
	{"10.in-addr.arpa", "RFC 6761", kindReverse},
	{"127.in-addr.arpa", "RFC 6303", kindReverse},
	{"254.169.in-addr.arpa", "RFC 6303", kindReverse},
	{"168.192.in-addr.arpa", "RFC 6761", kindReverse},
	{"170.0.0.192.in-addr.arpa", "RFC 8880", kindReverse},
	{"171.0.0.192.in-addr.arpa", "RFC 8880", kindReverse},
	{"2.0.192.in-addr.arpa", "RFC 6303", kindReverse},
	{"100.51.198.in-addr.arpa", "RFC 6303", kindReverse},
	{"113.0.203.in-addr.arpa", "RFC 6303", kindReverse},
	{"255.255.255.255.in-addr.arpa", "RFC 6303", kindReverse},

	{strings.Repeat("0.", 32) + "ip6.arpa", "RFC 6303", kindReverse},
	{"1." + strings.Repeat("0.", 31) + "ip6.arpa", "RFC 6303", kindReverse},
	{"8.b.d.0.1.0.0.2.ip6.arpa", "RFC 6303", kindReverse},
	{"c.f.ip6.arpa", "RFC 4193", kindReverse},
	{"d.f.ip6.arpa", "RFC 6303", kindReverse},
	{"8.e.f.ip6.arpa", "RFC 6303", kindReverse},
	{"9.e.f.ip6.arpa", "RFC 6303", kindReverse},
	{"a.e.f.ip6.arpa", "RFC 6303", kindReverse},
	{"b.e.f.ip6.arpa", "RFC 6303", kindReverse},
}

// zoneTable is zones by name.
type zoneTable map[string]Zone

// zones are all of them.
var zones = index(specialNames, cloudNames, reverseZones, numberedZones(16, 31, "172", "RFC 6761"),
	numberedZones(64, 127, "100", "RFC 7793"))

// numberedZones are the reverse zones <first>.<octet>.in-addr.arpa to <last>.<octet>.in-addr.arpa.
func numberedZones(first, last int, octet, source string) []Zone {
	var zones []Zone
	for n := first; n <= last; n++ {
		zones = append(zones, Zone{fmt.Sprintf("%d.%s.in-addr.arpa", n, octet), source, kindReverse})
	}
	return zones
}

func index(lists ...[]Zone) zoneTable {
	byName := make(zoneTable)
	for _, z := range slices.Concat(lists...) {
		byName[z.Name] = z
	}
	return byName
}

// find returns the zone that a canonical name is or lies under.
func (t zoneTable) find(name string) (Zone, bool) {
	for {
		if z, ok := t[name]; ok {
			return z, true
		}
		_, parent, found := strings.Cut(name, ".")
		if !found {
			return Zone{}, false
		}
		name = parent
	}
}
