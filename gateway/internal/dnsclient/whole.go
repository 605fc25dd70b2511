package dnsclient

import "github.com/miekg/dns"

// leastData is how many octets the data of a type has at least, its names as short as they can be.
var leastData = map[uint16]uint16{
	dns.TypeMX: 3, dns.TypeSOA: 22, dns.TypeSRV: 7, dns.TypeHTTPS: 3, dns.TypeSVCB: 3, dns.TypeCAA: 2, dns.TypeDS: 5,
	dns.TypeDNSKEY: 4, dns.TypeTLSA: 4, dns.TypeNAPTR: 8, dns.TypeSSHFP: 3, dns.TypeURI: 4, dns.TypeLOC: 16,
	dns.TypeHINFO: 2,
}

// whole reports whether all of a record was there to be read. The library takes data that ends between two of its
// fields, and reads the others as zeroes: what a server did not say must not be told as its word. Records without any
// data are usable's.
func whole(record dns.RR) bool {
	h := record.Header()
	if h.Rdlength == 0 || h.Class != dns.ClassINET {
		return true
	}
	switch rr := record.(type) {
	case *dns.NAPTR:
		return rr.Replacement != "" // that of the root is a dot
	case *dns.HINFO:
		return int(h.Rdlength) >= len("..")+len(Unescape(rr.Cpu))+len(Unescape(rr.Os))
	case *dns.SOA:
		return rr.Mbox != "" && h.Rdlength >= leastData[dns.TypeSOA]
	}
	return h.Rdlength >= leastData[h.Rrtype]
}

func allWhole(records []dns.RR) bool {
	for _, rr := range records {
		if !whole(rr) {
			return false
		}
	}
	return true
}
