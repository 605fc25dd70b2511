package dnsclient

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// ServiceParam is one parameter of an SVCB or HTTPS record: the key by its registered name, or as key65280, and its
// value as zone files have it within the quotes.
type ServiceParam struct{ Key, Value string }

// ServiceParams gives the parameters of a record in their order, which is that of the keys' numbers (RFC 9460 section
// 2.2). Unknown parameters are kept.
func ServiceParams(rr *dns.SVCB) []ServiceParam {
	params := make([]ServiceParam, len(rr.Value))
	for i, pair := range rr.Value {
		value, _ := paramValue(pair)
		params[i] = ServiceParam{Key: pair.Key().String(), Value: value}
	}
	return params
}

// paramValue gives the value of a parameter; free means that it may hold any character.
func paramValue(pair dns.SVCBKeyValue) (value string, free bool) {
	switch p := pair.(type) {
	case *dns.SVCBAlpn:
		return protocols(p.Alpn), true
	case *dns.SVCBDoHPath:
		return escape(p.Template), true
	case *dns.SVCBLocal:
		return escape(string(p.Data)), true
	}
	return pair.String(), false // numbers, addresses, names of keys and base64
}

// protocols writes the list of alpn, in which commas and backslashes are escaped twice: as an item of a list, and as a
// character-string (RFC 9460 appendix A.1).
func protocols(ids []string) string {
	items := make([]string, len(ids))
	within := strings.NewReplacer(`\`, `\\`, `,`, `\,`)
	for i, id := range ids {
		items[i] = within.Replace(id)
	}
	return escape(strings.Join(items, ","))
}

// presentService writes the values in quotes that may hold any character, as dig does, and no value where there is
// none. The library's own String takes time in the square of their number.
func presentService(rr *dns.SVCB) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", rr.Priority, nameOrRoot(rr.Target))
	for _, pair := range rr.Value {
		b.WriteString(" " + pair.Key().String())
		switch value, free := paramValue(pair); {
		case value == "":
		case free:
			b.WriteString(`="` + value + `"`)
		default:
			b.WriteString("=" + value)
		}
	}
	return b.String()
}
