package web

var groups = []Group{
	{Name: "DNS and mail", Tools: []Descriptor{
		{
			Slug: "dns-lookup", Title: "DNS lookup", Kind: KindDomain,
			Promise: "See the A, AAAA, MX, TXT, CNAME, NS and SOA records of a domain.",
			Label:   "Domain name", Placeholder: "example.com", Examples: []string{"example.com", "ietf.org"},
			Suits: "domain:90 email:50 url:40 hostPort:30",
			About: []string{
				"The DNS tells the addresses, the mail servers and other facts that belong to a name. This check asks for seven types of record at once and shows what comes back, with the time that each answer may still be kept (TTL).",
				"A type without records is usually no mistake: few names have all of them. A name that does not exist (NXDOMAIN) or a server that fails (SERVFAIL) is told apart from that.",
			},
		},
		{
			Slug: "dns-resolver-check", Title: "DNS resolver check", Kind: KindDomain,
			Promise: "Ask four public resolvers the same question and see whether they agree.",
			Label:   "Domain name", Placeholder: "example.com", Options: []Option{recordTypes}, Examples: []string{"example.com"},
			Suits: "domain:60 url:20",
			About: []string{
				"Cloudflare, Google, Quad9 and OpenDNS are asked the same question at the same time. After a change, differing answers show which of them still hold the old record.",
				"Different addresses are normal for names that a content network serves from many places. One resolver that denies a name which the others know may be filtering it.",
			},
		},
		{
			Slug: "email-dns-health", Title: "Email DNS health", Kind: KindDomain,
			Promise: "Check what a domain publishes for mail: MX, SPF, DMARC, DKIM, MTA-STS and TLS reporting.",
			Label:   "Domain name", Placeholder: "example.com", Options: []Option{dkimSelector}, Examples: []string{"example.com", "ietf.org"},
			Suits: "email:95 domain:70 url:10",
			About: []string{
				"Mail works by what a domain publishes in the DNS: where mail goes (MX), who may send in its name (SPF and DKIM), what receivers should do with the rest (DMARC), and whether delivery must be encrypted (MTA-STS, with TLS reporting).",
				"Nothing is sent and no mail server is contacted: this is a check of what is published.",
			},
		},
	}},
	{Name: "Websites", Tools: []Descriptor{
		{
			Slug: "http-headers", Title: "HTTP headers", Kind: KindURL,
			Promise: "See the status, the timing and every response header of one request.",
			Label:   "URL", Placeholder: "https://example.com/", Examples: []string{"https://example.com/"},
			Suits: "url:80 domain:45",
			About: []string{
				"One GET request is sent and its answer shown as it came: status, headers, protocol, certificate state and how long each step took. Redirects are not followed and the page itself is not read.",
				"The values of cookies are masked.",
			},
		},
		{
			Slug: "uptime", Title: "Uptime check", Kind: KindURL,
			Promise: "Find out whether a website answers right now, over IPv4 and IPv6.",
			Label:   "URL", Placeholder: "https://example.com/", Examples: []string{"https://example.com/"},
			Suits: "url:90 domain:65",
			About: []string{
				"The site is asked over IPv4 and over IPv6 from this server. Up means that it answered with a status below 400, degraded that it answers with a fault (an error page, an invalid certificate, one family dead), down that no answer came, also at a second try.",
				"It is one look from one place at one moment.",
			},
		},
		{
			Slug: "redirect-checker", Title: "Redirect checker", Kind: KindURL,
			Promise: "Follow a chain of redirects, hop by hop.",
			Label:   "URL", Placeholder: "http://example.com/", Examples: []string{"http://example.com/"},
			Suits: "url:70 domain:30",
			About: []string{
				"Every redirect is followed by itself, up to eight, and shown with its status, its time and what it changed: from http to https, to another host, to the www name.",
				"Each further hop costs visitors a round trip or more. A permanent redirect (301, 308) is remembered by browsers and search engines; a temporary one (302, 303, 307) is not.",
			},
		},
		{
			Slug: "robots-sitemap", Title: "Robots and sitemap", Kind: KindURL,
			Promise: "See what robots.txt tells crawlers and whether the sitemaps can be read.",
			Label:   "URL", Placeholder: "https://example.com/", Examples: []string{"https://example.com/"},
			Suits: "url:40 domain:20",
			About: []string{
				"robots.txt asks crawlers to stay out of parts of a site (RFC 9309); sitemaps list the pages that they should know. Both are fetched and read as search engines read them.",
				"robots.txt is a request, not a lock: it keeps nothing secret.",
			},
		},
		{
			Slug: "security-headers", Title: "Security headers", Kind: KindURL,
			Promise: "Check the headers that protect a site's visitors, with advice for each.",
			Label:   "URL", Placeholder: "https://example.com/", Examples: []string{"https://example.com/"},
			Suits: "url:75 domain:40",
			About: []string{
				"Response headers can tell browsers to insist on HTTPS, to refuse foreign scripts and frames, and to keep addresses to themselves. Each control is judged by itself; there is no overall grade, since what a site needs depends on what it does.",
				"Redirects are followed, at most five, and the last answer is judged.",
			},
		},
	}},
	{Name: "Connections", Tools: []Descriptor{
		{
			Slug: "ssl-checker", Title: "TLS certificate check", Kind: KindTLSHost,
			Promise: "Check a server's certificate, its chain and the protocols that it speaks.",
			Label:   "Hostname, or host:port", Placeholder: "example.com", Hint: "Port 443 where none is given.", Examples: []string{"example.com", "example.com:443"},
			Suits: "domain:75 hostPort:80 url:60",
			About: []string{
				"A certificate proves that a server may speak for a name. It must be inside its dates, carry the name, and lead by a complete chain to an authority that browsers trust.",
				"The chain is checked against this server's own list of authorities. Mail ports are asked to start TLS first (STARTTLS).",
			},
		},
		{
			Slug: "port-checker", Title: "Port checker", Kind: KindHostPort,
			Promise: "Find out whether a TCP port is open, closed or filtered.",
			Label:   "Host and port", Placeholder: "example.com:443", Hint: "An IPv6 address goes in brackets: [2606:4700:4700::1111]:443", Examples: []string{"example.com:443", "example.com:25"},
			Suits: "hostPort:95 address:30 domain:15",
			About: []string{
				"A TCP connection is opened to each address of the host and closed at once. Open: something accepted it. Closed: the host answered that nothing listens there. Filtered: no answer, as behind a firewall.",
				"The connection comes from this server: a firewall that lets only you in looks filtered from here.",
			},
		},
		{
			Slug: "ping", Title: "Ping", Kind: KindHost, Samples: "ping",
			Promise: "Measure the round-trip time to this service from your browser, or to a host from our server.",
			Label:   "Hostname or IP address", Placeholder: "example.com", Options: []Option{family}, Examples: []string{"example.com", "1.1.1.1"},
			Suits: "address:60 domain:35",
			About: []string{
				"The round-trip time is how long a small question and its answer take on the network. Its middle value (median) tells how far away the other end is; its variation (jitter) tells how steady the way is.",
			},
		},
		{
			Slug: "packet-loss", Title: "Packet loss", Kind: KindHost, Samples: "packet-loss",
			Promise: "See whether requests get lost on your way to this service, or packets on ours to a host.",
			Label:   "Hostname or IP address", Placeholder: "example.com", Options: []Option{family}, Examples: []string{"example.com", "1.1.1.1"},
			Suits: "address:40 domain:15",
			About: []string{
				"Many small questions are sent and the missing answers counted. A little loss is felt in calls and games first; loss that comes in bursts hurts more than the same loss spread out.",
			},
		},
		{
			Slug: "traceroute", Title: "Traceroute", Kind: KindHost,
			Promise: "See the routers on the way from our server to a host, with their timings.",
			Label:   "Hostname or IP address", Placeholder: "example.com", Options: []Option{family}, Examples: []string{"example.com", "1.1.1.1"},
			Suits: "address:50 domain:25",
			About: []string{
				"Each router on the way is made to answer once by packets with a growing hop limit. Routers answer such packets when they have time: a slow or silent router in the middle says little as long as those behind it answer well.",
				"It shows the way there; the way back may be another.",
			},
		},
	}},
	{Name: "Addresses and registration", Tools: []Descriptor{
		{
			Slug: "my-ip", Title: "My IP address", Kind: KindNone,
			Promise: "See the public IP address that you come from.",
			About: []string{
				"This is the address under which other servers see you, as the proxy in front of this service reports it. Several people often share one, and it may change at any time.",
			},
		},
		{
			Slug: "ip-geolocation", Title: "IP geolocation", Kind: KindAddress,
			Promise: "See which network and which country an IP address is registered in.",
			Label:   "Public IP address", Placeholder: "8.8.8.8", Examples: []string{"8.8.8.8", "2606:4700:4700::1111"},
			Suits: "address:90",
			About: []string{
				"Every public address belongs to a network that is registered with one of five regional registries. The registration names a holder and often a country.",
				"That is where the network is registered, not where the computer stands: nobody can tell a street, and often not even a city, from an address.",
			},
		},
		{
			Slug: "asn-lookup", Title: "ASN lookup", Kind: KindNetwork,
			Promise: "See which autonomous system announces an address, or who holds an AS number.",
			Label:   "Public IP address or AS number", Placeholder: "AS15169", Examples: []string{"AS15169", "8.8.8.8"},
			Suits: "asn:95 address:75",
			About: []string{
				"The internet is made of some tens of thousands of autonomous systems: networks of providers, companies and universities, each with a number. An address is reached through the system that announces its prefix.",
			},
		},
		{
			Slug: "whois-lookup", Title: "Registration lookup", Kind: KindRegistration,
			Promise: "See how a domain name or an IP network is registered.",
			Label:   "Domain name or public IP address", Placeholder: "example.com", Examples: []string{"example.com", "8.8.8.8"},
			Suits: "domain:80 address:70 url:30 email:30",
			About: []string{
				"Registries tell when a domain was registered, when it expires, through whom, and in which state it is. This asks them by RDAP, the successor of whois.",
				"Details of persons are not shown, even where a registry still gives them.",
			},
		},
	}},
}
