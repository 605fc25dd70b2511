package web

// group is a named set of tools, as the front page and the report show it.
type group struct {
	name  string
	slugs []string
}

// catalogue is every tool that has a page, in the order in which the pages show them.
var catalogue = []group{
	{"DNS and mail", []string{
		"dns-lookup",
		"dns-resolver-check",
		"dns-delegation",
		"email-dns-health",
	}},
	{"Websites", []string{
		"http-headers",
		"uptime",
		"redirect-checker",
		"robots-sitemap",
		"security-headers",
	}},
	{"Connections", []string{
		"ssl-checker",
		"port-checker",
		"ping",
		"packet-loss",
		"traceroute",
	}},
	{"Addresses and registration", []string{
		"my-ip",
		"ip-geolocation",
		"asn-lookup",
		"whois-lookup",
	}},
}
