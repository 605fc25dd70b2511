package spf

import (
	"net/netip"
	"strconv"
	"strings"

	"diagnostics/shared/ascii"
)

// Kind is what a term is.
type Kind int

// The kinds of term (RFC 7208 sections 5 and 6).
const (
	All Kind = iota + 1
	Include
	A
	MX
	PTR
	IP4
	IP6
	Exists
	Redirect
	Exp
	UnknownModifier
)

// mechanisms are the names of RFC 7208 section 5.
var mechanisms = map[string]Kind{
	"all": All, "include": Include, "a": A, "mx": MX, "ptr": PTR, "ip4": IP4, "ip6": IP6, "exists": Exists,
}

// Lookup reports whether terms of the kind count against the limit of ten (RFC 7208 section 4.6.4).
func (k Kind) Lookup() bool {
	switch k {
	case Include, A, MX, PTR, Exists, Redirect:
		return true
	}
	return false
}

// Modifier reports whether terms of the kind are modifiers, whose place in the record has no meaning.
func (k Kind) Modifier() bool { return k >= Redirect }

// Term is one mechanism or modifier.
type Term struct {
	Kind Kind
	// Text is the term as it stands in the record.
	Text string
	// Name is its name in lower case.
	Name string
	// Qualifier is '+', '-', '~' or '?', and 0 for a modifier.
	Qualifier byte
	// Spec is the domain-spec as it stands, empty where the term names none.
	Spec string
	// Macros means that Spec has macros, which expand fills in.
	Macros bool
	// Prefix is the network of ip4 and ip6.
	Prefix netip.Prefix
	// Four and Six are the CIDR lengths of a and mx.
	Four, Six int
	// Zero means an a or mx whose CIDR length is 0, which matches every sender.
	Zero bool
	// Problem is the code of a clause on what is wrong with the syntax, empty if nothing is. Meant is the mechanism that
	// an unknown name probably stands for.
	Problem, Meant string
}

const version = "v=spf1"

// IsRecord reports whether a TXT record is an SPF record: the version, in any case, and a space or nothing behind it
// (RFC 7208 section 4.5).
func IsRecord(txt string) bool {
	if len(txt) < len(version) || !strings.EqualFold(txt[:len(version)], version) {
		return false
	}
	return len(txt) == len(version) || txt[len(version)] == ' '
}

// IsNear reports whether a TXT record that is no SPF record was meant to be one.
func IsNear(txt string) bool {
	if IsRecord(txt) {
		return false
	}
	start := strings.ToLower(strings.TrimLeft(txt, " \t\r\n\"'"))
	return strings.HasPrefix(start, "v=spf") || strings.HasPrefix(start, "v = spf") || strings.HasPrefix(start, "spf1 ")
}

// maxTerms bounds what is read of one record; the longest that DNS can carry has thirty thousand.
const maxTerms = 500

// Parse splits an SPF record into its terms. It does not stop at what it does not understand: such a term has a
// Problem. truncated means that the record has more terms than are read.
func Parse(record string) (terms []Term, truncated bool) {
	for field := range strings.SplitSeq(record[len(version):], " ") {
		if field == "" {
			continue
		}
		if len(terms) == maxTerms {
			return terms, true
		}
		terms = append(terms, parseTerm(field))
	}
	return terms, false
}

func parseTerm(field string) Term {
	t := Term{Text: field}
	if name, value, ok := cutModifier(field); ok {
		return t.modifier(name, value)
	}
	t.Qualifier = '+'
	if strings.IndexByte("+-~?", field[0]) >= 0 {
		t.Qualifier = field[0]
		field = field[1:]
	}
	end := strings.IndexAny(field, ":/")
	if end < 0 {
		end = len(field)
	}
	t.Name = strings.ToLower(field[:end])
	rest := field[end:]
	t.Kind = mechanisms[t.Name]
	switch t.Kind {
	case All:
		if rest != "" {
			t.Problem = "SPF_ALL_WITH_VALUE"
		}
	case Include, Exists:
		t.domain(rest, true)
	case PTR:
		t.domain(rest, false)
	case A, MX:
		t.dual(rest)
	case IP4, IP6:
		t.network(rest)
	default:
		t.Problem, t.Meant = "SPF_NO_MECHANISM", meant(t.Name)
	}
	return t
}

// cutModifier splits name=value where the name is one (RFC 7208 section 4.6.1): modifiers have no qualifier, and their
// equals sign comes before any colon or slash.
func cutModifier(field string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(field, "=")
	if !ok || name == "" || !ascii.IsLetter(name[0]) || strings.ContainsFunc(name, func(r rune) bool {
		return !ascii.IsAlphanumeric(r) && r != '-' && r != '_' && r != '.'
	}) {
		return "", "", false
	}
	return strings.ToLower(name), value, true
}

func (t Term) modifier(name, value string) Term {
	t.Name = name
	switch name {
	case "redirect":
		t.Kind = Redirect
	case "exp":
		t.Kind = Exp
	default:
		t.Kind = UnknownModifier
		_, t.Problem = checkMacros(value, true)
		return t
	}
	t.Spec = value
	t.Macros, t.Problem = checkDomainSpec(value)
	return t
}

// domain reads ":" domain-spec.
func (t *Term) domain(rest string, required bool) {
	spec, colon := strings.CutPrefix(rest, ":")
	switch {
	case rest == "" && !required:
		return
	case !colon:
		t.Problem = "SPF_NEEDS_DOMAIN"
		return
	}
	t.Spec = spec
	t.Macros, t.Problem = checkDomainSpec(spec)
}

// dual reads [ ":" domain-spec ] [ "/" length ] [ "//" length ].
func (t *Term) dual(rest string) {
	// The lengths stand behind the top label or a macro. A slash before that, or between braces, belongs to the domain.
	from := strings.LastIndexAny(rest, ".}") + 1
	lengths := ""
	if slash := strings.IndexByte(rest[from:], '/'); slash >= 0 {
		rest, lengths = rest[:from+slash], rest[from+slash:]
	}
	t.Four, t.Six = 32, 128
	if rest != "" {
		t.domain(rest, true)
	}
	if t.Problem != "" || lengths == "" {
		return
	}
	four, six, both := strings.Cut(lengths, "//")
	if four != "" {
		t.length(strings.TrimPrefix(four, "/"), &t.Four)
	}
	if both {
		t.length(six, &t.Six)
	}
}

// length reads a CIDR length in place of the longest one.
func (t *Term) length(s string, into *int) {
	n, ok := parseLength(s, *into)
	if !ok {
		t.Problem = "SPF_PREFIX_LENGTH"
		return
	}
	*into = n
	t.Zero = t.Zero || n == 0
}

// parseLength reads a CIDR length: digits without leading zeros.
func parseLength(s string, most int) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil || int(n) > most || (len(s) > 1 && s[0] == '0') {
		return 0, false
	}
	return int(n), true
}

func (t *Term) network(rest string) {
	address, length, hasLength := strings.Cut(strings.TrimPrefix(rest, ":"), "/")
	addr, err := netip.ParseAddr(address)
	wrongFamily := addr.Is4() != (t.Kind == IP4)
	if !strings.HasPrefix(rest, ":") || err != nil || addr.Zone() != "" || wrongFamily {
		t.Problem = map[Kind]string{IP4: "SPF_NEEDS_IPV4", IP6: "SPF_NEEDS_IPV6"}[t.Kind]
		return
	}
	bits := addr.BitLen()
	if hasLength {
		n, ok := parseLength(length, bits)
		if !ok {
			t.Problem = "SPF_PREFIX_LENGTH"
			return
		}
		bits = n
	}
	t.Prefix = netip.PrefixFrom(addr, bits)
}

// meant is the mechanism that a name which is none's probably stands for, empty if there is none.
func meant(name string) string {
	// A list of another kind ends its terms in ";" or ",".
	if bare := strings.TrimRight(name, ".,;"); bare != name && mechanisms[bare] != 0 {
		return bare
	}
	return misspelt[name]
}

var misspelt = map[string]string{
	"ipv4": "ip4", "ip": "ip4", "ipv6": "ip6", "includes": "include", "incude": "include", "inlcude": "include",
	"al": "all", "exist": "exists",
}
