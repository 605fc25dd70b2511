package dnslookup

import (
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"

	"github.com/miekg/dns"
)

// allTypes are the types that may be queried, in the order of queries and of results.
var allTypes = [...]uint16{
	dns.TypeA, dns.TypeAAAA, dns.TypeMX, dns.TypeTXT, dns.TypeCNAME, dns.TypeNS, dns.TypeSOA,
	dns.TypeCAA, dns.TypeSRV, dns.TypeHTTPS, dns.TypeSVCB, dns.TypeDS, dns.TypeDNSKEY, dns.TypeTLSA, dns.TypeNAPTR,
	dns.TypePTR, dns.TypeSSHFP, dns.TypeURI, dns.TypeLOC, dns.TypeHINFO,
}

// usualTypes are those that are requested where the request names none.
var usualTypes = allTypes[:7]

// everyType is the value of the option that stands for allTypes.
const everyType = "all"

// query is what dns-lookup queries: a name, and some of allTypes in their order.
type query struct {
	target.Domain
	types []uint16
}

func parse(in tool.Input) (query, error) {
	name, err := parseName(in.Text)
	if err != nil {
		return query{}, err
	}
	types, err := parseTypes(in.Options)
	if err != nil {
		return query{}, err
	}
	return query{Domain: name, types: types}, nil
}

// parseName takes a public domain name. For an address the error names the domain name of its records.
func parseName(typed string) (target.Domain, error) {
	name, err := target.ParseDomain(typed, true)
	address, failed := netip.ParseAddr(typed)
	if err == nil || failed != nil || !netpolicy.Judge(address).Public {
		return name, err
	}
	reverse, failed := dns.ReverseAddr(address.String())
	if failed != nil {
		return name, err
	}
	return name, fault.New(fault.Invalid, "NAME_IS_ADDRESS", finding.Args{"name": address,
		"advice": "ENTER_DOMAIN_OR_REVERSE", "reverse": strings.ToLower(dnsclient.TrimRoot(reverse))})
}

var optionTypes = tool.Option{
	Name: "types",
	Doc: "A comma-separated list of " + typeNames(allTypes[:]) + ", in any case, or `all` by itself for these twenty. " +
		"A type that is named twice counts once.",
	Allowed: "a comma-separated list of " + typeNames(allTypes[:]) + ", or all by itself",
	Pattern: "^ *([Aa][Ll][Ll]|[A-Za-z]+ *(, *[A-Za-z]+ *)*) *$",
}

// parseTypes reads the option "types": names of types in any case with commas between them, or "all" by itself. Blanks
// around a name are left out of account, and a type that stands there twice counts once.
func parseTypes(options tool.Options) ([]uint16, error) {
	value, present, err := optionTypes.Text(options)
	if err != nil {
		return nil, err
	}
	if !present {
		return usualTypes, nil
	}
	if strings.EqualFold(strings.TrimSpace(value), everyType) {
		return allTypes[:], nil
	}
	asked := map[uint16]bool{}
	for name := range strings.SplitSeq(value, ",") {
		qtype, known := dns.StringToType[strings.ToUpper(strings.TrimSpace(name))]
		if !known || !slices.Contains(allTypes[:], qtype) {
			return nil, optionTypes.Reject()
		}
		asked[qtype] = true
	}
	return slices.DeleteFunc(slices.Clone(allTypes[:]), func(t uint16) bool { return !asked[t] }), nil
}

func typeNames(types []uint16) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = dns.TypeToString[t]
	}
	return strings.Join(names, ", ")
}
