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
	// Worker marks a tool that only runs where the worker is enabled.
	Worker bool
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

var groups = []Group{
	{Name: "DNS and mail", Tools: []Descriptor{
		{
			Slug: "dns-lookup", Title: "DNS lookup", Kind: KindDomain,
			Promise: "See the A, AAAA, MX, TXT, CNAME, NS and SOA records of a domain.",
			Label:   "Domain name", Placeholder: "example.com",
		},
		{
			Slug: "dns-resolver-check", Title: "DNS resolver check", Kind: KindDomain,
			Promise: "Ask four public resolvers the same question and see whether they agree.",
			Label:   "Domain name", Placeholder: "example.com", Options: []Option{recordTypes},
		},
		{
			Slug: "email-dns-health", Title: "Email DNS health", Kind: KindDomain,
			Promise: "Check what a domain publishes for mail: MX, SPF, DMARC, DKIM, MTA-STS and TLS reporting.",
			Label:   "Domain name", Placeholder: "example.com", Options: []Option{dkimSelector},
		},
	}},
	{Name: "Websites", Tools: []Descriptor{
		{
			Slug: "http-headers", Title: "HTTP headers", Kind: KindURL,
			Promise: "See the status, the timing and every response header of one request.",
			Label:   "URL", Placeholder: "https://example.com/",
		},
		{
			Slug: "uptime", Title: "Uptime check", Kind: KindURL,
			Promise: "Find out whether a website answers right now, over IPv4 and IPv6.",
			Label:   "URL", Placeholder: "https://example.com/",
		},
		{
			Slug: "redirect-checker", Title: "Redirect checker", Kind: KindURL,
			Promise: "Follow a chain of redirects, hop by hop.",
			Label:   "URL", Placeholder: "http://example.com/",
		},
		{
			Slug: "robots-sitemap", Title: "Robots and sitemap", Kind: KindURL,
			Promise: "See what robots.txt tells crawlers and whether the sitemaps can be read.",
			Label:   "URL", Placeholder: "https://example.com/",
		},
		{
			Slug: "security-headers", Title: "Security headers", Kind: KindURL,
			Promise: "Check the headers that protect a site's visitors, with advice for each.",
			Label:   "URL", Placeholder: "https://example.com/",
		},
	}},
	{Name: "Connections", Tools: []Descriptor{
		{
			Slug: "ssl-checker", Title: "TLS certificate check", Kind: KindTLSHost,
			Promise: "Check a server's certificate, its chain and the protocols that it speaks.",
			Label:   "Hostname, or host:port", Placeholder: "example.com", Hint: "Port 443 where none is given.",
		},
		{
			Slug: "port-checker", Title: "Port checker", Kind: KindHostPort,
			Promise: "Find out whether a TCP port is open, closed or filtered.",
			Label:   "Host and port", Placeholder: "example.com:443", Hint: "An IPv6 address goes in brackets: [2606:4700:4700::1111]:443",
		},
		{
			Slug: "ping", Title: "Ping", Kind: KindHost, Worker: true, Samples: "ping",
			Promise: "Measure the round-trip time to this service from your browser, or to a host from our server.",
			Label:   "Hostname or IP address", Placeholder: "example.com", Options: []Option{family},
		},
		{
			Slug: "packet-loss", Title: "Packet loss", Kind: KindHost, Worker: true, Samples: "packet-loss",
			Promise: "See whether requests get lost on your way to this service, or packets on ours to a host.",
			Label:   "Hostname or IP address", Placeholder: "example.com", Options: []Option{family},
		},
		{
			Slug: "traceroute", Title: "Traceroute", Kind: KindHost, Worker: true,
			Promise: "See the routers on the way from our server to a host, with their timings.",
			Label:   "Hostname or IP address", Placeholder: "example.com", Options: []Option{family},
		},
	}},
	{Name: "Addresses and registration", Tools: []Descriptor{
		{
			Slug: "my-ip", Title: "My IP address", Kind: KindNone,
			Promise: "See the public IP address that you come from.",
		},
		{
			Slug: "ip-geolocation", Title: "IP geolocation", Kind: KindAddress,
			Promise: "See which network and which country an IP address is registered in.",
			Label:   "Public IP address", Placeholder: "8.8.8.8",
		},
		{
			Slug: "asn-lookup", Title: "ASN lookup", Kind: KindNetwork,
			Promise: "See which autonomous system announces an address, or who holds an AS number.",
			Label:   "Public IP address or AS number", Placeholder: "AS15169",
		},
		{
			Slug: "whois-lookup", Title: "Registration lookup", Kind: KindRegistration,
			Promise: "See how a domain name or an IP network is registered.",
			Label:   "Domain name or public IP address", Placeholder: "example.com",
		},
	}},
}

// Descriptors is every tool that has a page, in the order of the front page.
func Descriptors() []Descriptor {
	var all []Descriptor
	for _, g := range groups {
		all = append(all, g.Tools...)
	}
	return all
}
