package web

// Kind is what a tool's input is; the report page picks the tools that fit a target by it.
type Kind string

// The kinds of input.
const (
	KindNone         Kind = "none"         // the tool takes no input
	KindDomain       Kind = "domain"       // a domain name
	KindHost         Kind = "host"         // a hostname or an IP address
	KindHostPort     Kind = "hostPort"     // host:port
	KindTLSHost      Kind = "tlsHost"      // a hostname, maybe with a port
	KindURL          Kind = "url"          // an http or https URL
	KindAddress      Kind = "address"      // an IP address
	KindNetwork      Kind = "network"      // an IP address or an AS number
	KindRegistration Kind = "registration" // a domain name or an IP address
)

// Group is a named set of tools, as the front page shows it.
type Group struct {
	Name  string
	Tools []Descriptor
}

// Descriptor is what a page says of one tool.
type Descriptor struct {
	Slug    string
	Title   string
	Promise string
	Kind    Kind
	// Label, Placeholder and Hint are those of the input field; empty where the tool takes no input.
	Label       string
	Placeholder string
	Hint        string
	Options     []Option
	// Examples are inputs that the page offers to try.
	Examples []string
	// Suits says how well the tool fits what somebody typed into the front page's field, as "url:90 domain:40": the
	// recognised kind and a weight, the heaviest offered first. What is not named weighs 10 where the kind of input fits.
	Suits string
	// About says what the check does and what its result means, a paragraph each, to somebody who is no specialist.
	About []string
	// Samples is the connection route that the page samples from the browser, empty for none.
	Samples string
}

// Option is a field for one member of the request's options.
type Option struct {
	Name  string
	Label string
	// Values are the choices, the default first. Without choices the option is free text.
	Values      []Choice
	Placeholder string
	Hint        string
}

// Choice is one value of an option.
type Choice struct{ Value, Label string }

var recordTypes = Option{Name: "recordType", Label: "Record type", Values: []Choice{
	{"A", "A"}, {"AAAA", "AAAA"}, {"CNAME", "CNAME"}, {"MX", "MX"}, {"NS", "NS"}, {"TXT", "TXT"}, {"CAA", "CAA"},
}}

var dkimSelector = Option{
	Name: "dkimSelector", Label: "DKIM selector (optional)", Placeholder: "selector1",
	Hint: "The s= value of a DKIM-Signature header. Without it the DKIM key cannot be checked.",
}

var family = Option{Name: "family", Label: "Address family", Values: []Choice{
	{"auto", "Automatic"}, {"ipv4", "IPv4"}, {"ipv6", "IPv6"},
}}

// Descriptors is every tool that has a page, in the order of the front page.
func Descriptors() []Descriptor {
	var all []Descriptor
	for _, g := range groups {
		all = append(all, g.Tools...)
	}
	return all
}
