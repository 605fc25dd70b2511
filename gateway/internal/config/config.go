// Package config reads and validates the settings of the gateway, once.
package config

import (
	"slices"
	"strings"

	"diagnostics/daemon"
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/httpapi"
)

// Config is every setting of the gateway. The tags are the documentation, and package settings has their rules.
type Config struct {
	ListenAddr        settings.ListenAddr `envconfig:"GATEWAY_LISTEN_ADDR" default:"127.0.0.1:8080" takes:"host:port, such as 127.0.0.1:8080" doc:"public listener"`
	MetricsListenAddr settings.ListenAddr `envconfig:"METRICS_LISTEN_ADDR" takes:"host:port, such as 127.0.0.1:9090" doc:"private listener for /metrics; empty = off"`

	PublicDomain      domain          `envconfig:"PUBLIC_DOMAIN" takes:"a domain name, such as tools.example.com" doc:"the name by which visitors reach this host through a proxy of your own, and the one setting that it takes: PUBLIC_ORIGIN is https at this name; the client's address is taken from x-real-ip, from peers on this host and in private networks; and the addresses of the name in the DNS are refused as this host's own. PUBLIC_ORIGIN, CLIENT_ADDRESS_HEADER and TRUSTED_PROXY_CIDRS take precedence where they are set. Behind a CDN the name leads to the CDN: see deploy/proxies"`
	TrustedCIDRs      cidrs           `envconfig:"TRUSTED_PROXY_CIDRS" takes:"comma-separated CIDRs, such as 10.0.0.0/8,fd00::/8" doc:"addresses of your proxies: headers are trusted from peers in these ranges only. It narrows trust and never grants it; empty = with PUBLIC_DOMAIN this host and private networks, else any peer"`
	ClientHeader      headerName      `envconfig:"CLIENT_ADDRESS_HEADER" takes:"the name of one header, such as x-real-ip" doc:"the one header that is read where headers are trusted: the one that your proxy overwrites, or x-forwarded-for or forwarded (RFC 7239), counted from the right; empty = x-real-ip with PUBLIC_DOMAIN, else the order of TRUST_PROXY_HEADERS, which visitors can forge through most proxies"`
	ProxyHops         hops            `envconfig:"TRUSTED_PROXY_HOPS" default:"1" takes:"a whole number from 1 to 16" doc:"which address of x-forwarded-for or forwarded counts, from the right: the number of your own proxies that add to it"`
	PublicOrigin      httpapi.Origin  `envconfig:"PUBLIC_ORIGIN" takes:"an origin, such as https://tools.example.com, without a path" doc:"the one allowed Origin, for deployments behind a proxy that rewrites Host; empty = https at PUBLIC_DOMAIN, or without that the request's own Host"`
	TrustProxyHeaders settings.Bool   `envconfig:"TRUST_PROXY_HEADERS" default:"false" takes:"true or false" doc:"for compatibility, and behind a CDN: trusts headers without PUBLIC_DOMAIN: CLIENT_ADDRESS_HEADER, or without that cf-connecting-ip, then x-real-ip, then the first of x-forwarded-for"`
	TrustedPlatform   settings.Choice `envconfig:"TRUSTED_PROXY_PLATFORM" oneof:"cloudflare vercel" takes:"cloudflare or vercel" doc:"for compatibility: cloudflare or vercel trusts headers as TRUST_PROXY_HEADERS=true does, and so do the runtime flags CF_PAGES=1 and VERCEL=1"`
	CFPages           platformFlag    `envconfig:"CF_PAGES" hidden:"true"`
	Vercel            platformFlag    `envconfig:"VERCEL" hidden:"true"`

	EnableWorkerTools    settings.Bool     `envconfig:"ENABLE_WORKER_TOOLS" default:"false" takes:"true or false" doc:"together with the next two, turns on traceroute, ping and packet-loss"`
	WorkerURL            workerURL         `envconfig:"DIAGNOSTICS_WORKER_URL" takes:"an http or https URL without user, query or fragment, or several of them with commas between, such as http://10.0.0.2:8081,http://10.0.0.3:8081" doc:"base URL of the worker, or of several, comma-separated: a job goes to one that its target's address chooses. A name with several addresses is as many workers"`
	WorkerToken          WorkerToken       `envconfig:"DIAGNOSTICS_WORKER_TOKEN" file:"true" takes:"a token of printable ASCII without spaces, or two of them with a comma between" doc:"bearer credential of the worker; of two, comma-separated for rotation, the first is sent"`
	WorkerCAFile         settings.FilePath `envconfig:"DIAGNOSTICS_WORKER_CA_FILE" takes:"the path of a file" doc:"authorities in PEM for the certificate of a worker at an https URL, and for nothing else: what ssl-checker trusts stays as it is. Reread on change; empty = the roots of ssl-checker"`
	WorkerClientCertFile settings.FilePath `envconfig:"DIAGNOSTICS_WORKER_CLIENT_CERT_FILE" takes:"the path of a file" doc:"client certificate in PEM for a worker at an https URL that has WORKER_TLS_CLIENT_CA_FILE. Reread on change"`
	WorkerClientKeyFile  settings.FilePath `envconfig:"DIAGNOSTICS_WORKER_CLIENT_KEY_FILE" takes:"the path of a file" doc:"that certificate's private key in PEM, without a password"`

	RedisURL   redisURL        `envconfig:"RATE_LIMIT_REDIS_URL" takes:"redis://, rediss:// or unix://, or a list of hosts after redis+cluster://, redis+sentinel://, rediss+cluster:// or rediss+sentinel://" doc:"shared store of limits and caches: redis://, rediss://, unix://, redis+cluster://h1:p,h2:p, redis+sentinel://h1:p,h2:p/master (rediss+… for TLS); empty = in memory"`
	RedisToken settings.Secret `envconfig:"RATE_LIMIT_REDIS_TOKEN" file:"true" takes:"the password of RATE_LIMIT_REDIS_URL" doc:"the password, where it is not in the URL"`

	Requests        settings.Count    `envconfig:"RATE_LIMIT_REQUESTS" default:"30" takes:"a whole number from 0 to 1000000000" doc:"requests per client, tool and target in a window"`
	Window          settings.Duration `envconfig:"RATE_LIMIT_WINDOW" default:"60s" positive:"true" takes:"a positive duration, such as 60s" doc:"the window of all limits"`
	ClientRequests  settings.Count    `envconfig:"RATE_LIMIT_CLIENT_REQUESTS" default:"120" takes:"a whole number from 0 to 1000000000" doc:"requests per client over everything"`
	TargetRequests  settings.Count    `envconfig:"RATE_LIMIT_TARGET_REQUESTS" default:"300" takes:"a whole number from 0 to 1000000000" doc:"requests per target over all clients"`
	AddressRequests settings.Count    `envconfig:"RATE_LIMIT_ADDRESS_REQUESTS" default:"1200" takes:"a whole number from 0 to 1000000000" doc:"runs that reach one address, by whatever names, over all clients; a client's share is a tenth"`
	Samples         settings.Count    `envconfig:"RATE_LIMIT_SAMPLES" default:"1800" takes:"a whole number from 0 to 1000000000" doc:"samples of the two connection routes per client"`
	Pages           settings.Count    `envconfig:"RATE_LIMIT_PAGES" default:"600" takes:"a whole number from 0 to 1000000000" doc:"pages and their assets per client; only pages are refused"`
	MaxInFlight     settings.Count    `envconfig:"MAX_IN_FLIGHT" default:"512" positive:"true" takes:"a whole number from 1 to 1000000000" doc:"tool runs at once in this instance"`
	MaxInFlightEach settings.Count    `envconfig:"MAX_IN_FLIGHT_PER_CLIENT" default:"8" takes:"a whole number from 0 to 1000000000" doc:"tool runs at once of one client; of an IPv6 /56 four times as many, of a /48 sixteen times"`
	MaxConnections  settings.Count    `envconfig:"MAX_CONNECTIONS" default:"8192" takes:"a whole number from 0 to 1000000000" doc:"open connections of the public listener; at the limit the one idle longest is closed, and one peer (an IPv6 /64) may have 256, private and trusted peers excepted. Choose more than MAX_IN_FLIGHT"`

	Resolvers         resolvers         `envconfig:"DNS_RESOLVERS" takes:"comma-separated addresses, such as 9.9.9.9 or [2620:fe::fe]:53" doc:"resolvers of every lookup made for a visitor except those of dns-resolver-check; empty = the system's"`
	EgressFamilies    settings.Choice   `envconfig:"EGRESS_FAMILIES" default:"auto" oneof:"auto ipv4 ipv6 both" takes:"auto, ipv4, ipv6 or both" doc:"the address families that this host can reach: auto, ipv4, ipv6, both"`
	DenyTargets       denyTargets       `envconfig:"DENY_TARGETS" takes:"comma-separated CIDRs and domain suffixes, such as 192.0.2.0/24,example.com" doc:"CIDRs and domain suffixes that are refused, comma-separated"`
	DenyTargetsFile   settings.FilePath `envconfig:"DENY_TARGETS_FILE" takes:"the path of a file" doc:"a file with more of DENY_TARGETS, one entry a line; # starts a comment. Reread on change"`
	DenyClientsFile   settings.FilePath `envconfig:"DENY_CLIENTS_FILE" takes:"the path of a file" doc:"a file of addresses and CIDRs, one a line, whose clients get 403. Reread on change"`
	ClientLimitsFile  settings.FilePath `envconfig:"CLIENT_LIMITS_FILE" takes:"the path of a file" doc:"a file of lines such as 192.0.2.0/24 10 office: the request limits of a client in the network are multiplied by the factor (0.01 to 1000), and its runs counted under the label in metrics; of several networks the narrowest counts. Reread on change"`
	AllowOwnAddresses settings.Bool     `envconfig:"ALLOW_OWN_ADDRESSES" default:"false" takes:"true or false" doc:"lets visitors reach this host's own public addresses, those of PUBLIC_DOMAIN and HOST_ADDRESSES included"`
	HostAddresses     cidrs             `envconfig:"HOST_ADDRESSES" takes:"comma-separated addresses and CIDRs, such as 192.0.2.10,2001:db8::/64" doc:"addresses and CIDRs that are refused as this host's own, besides those that it sees and those of PUBLIC_DOMAIN: for a container, which cannot see its host's, and a host behind NAT"`
	HostAddressesFile settings.FilePath `envconfig:"HOST_ADDRESSES_FILE" takes:"the path of a file" doc:"a file with more of HOST_ADDRESSES, one a line; # starts a comment. Reread on change"`
	NAT64             translation       `envconfig:"NAT64_PREFIXES" default:"auto" takes:"comma-separated IPv6 prefixes of 32, 40, 48, 56, 64 or 96 bits, or auto" doc:"prefixes by which this network translates IPv6 addresses to IPv4 (RFC 6052), comma-separated: what they embed is judged and counted, too. auto, alone or in the list, also asks each resolver for them (RFC 7050); public resolvers do not reveal a network's prefix"`
	DisabledTools     list              `envconfig:"DISABLED_TOOLS" takes:"comma-separated slugs of tools" doc:"slugs of tools that answer 501, comma-separated"`
	ContactURL        contactURL        `envconfig:"CONTACT_URL" takes:"an http, https or mailto URL" doc:"goes into the User-Agent and the footer of the pages"`
	RDAPBaseURL       rdapURL           `envconfig:"RDAP_BASE_URL" default:"https://rdap.org" takes:"an https URL without user, query or fragment" doc:"redirector for registration data that IANA's lists do not place; if set to another URL, only that one is asked and no list is fetched"`
	RDAPBootstrapURL  bootstrapURL      `envconfig:"RDAP_BOOTSTRAP_URL" default:"https://data.iana.org/rdap/" takes:"an https URL without user, query or fragment, or off" doc:"where IANA's lists of registries (RFC 9224) are fetched, in the background, at the start and daily; off = only the built-in copy"`
	ASNZone           zone              `envconfig:"ASN_DNS_ZONE" default:"asn.cymru.com" takes:"a domain name" doc:"zone of the DNS-based ASN service"`

	RootHintsFile    settings.FilePath `envconfig:"DNS_ROOT_HINTS_FILE" takes:"the path of a file" doc:"root hints of dns-delegation in place of the built-in ones, for a private root: a zone file with the root's NS records and the A and AAAA records of its servers, whose addresses are exempt from the address policy. Read at the start"`
	TrustAnchorsFile settings.FilePath `envconfig:"DNS_TRUST_ANCHORS_FILE" takes:"the path of a file" doc:"trust anchors of dns-delegation in place of the built-in ones: a zone file with DS or DNSKEY records of the root. Read at the start"`

	PlaceID             placeID             `envconfig:"PLACE_ID" takes:"1 to 32 of a-z, 0-9 and -, but not all or here" doc:"ID of this place among several instances of this service; it is in every result. Empty = this instance is no place"`
	PlaceName           placeName           `envconfig:"PLACE_NAME" takes:"1 to 64 printable characters" doc:"name of this place for people; empty = its ID"`
	PlacesFile          settings.FilePath   `envconfig:"PLACES_FILE" takes:"the path of a file" doc:"the other places, which visitors may choose: a JSON list of objects with id, name, url, tokenFile, and where needed caFile, clientCertFile and clientKeyFile. It and the files that it names are reread on change"`
	PlaceHashKeyFile    settings.FilePath   `envconfig:"PLACE_HASH_KEY_FILE" takes:"the path of a file" doc:"key of the pseudonyms that other places are given of visitors, made at the first start; empty = shared through Redis by the replicas of this place, or without Redis made anew at each start"`
	PeerListenAddr      settings.ListenAddr `envconfig:"PEER_LISTEN_ADDR" takes:"host:port, such as 127.0.0.1:8443" doc:"private listener for other places, which may run tools here; empty = off. Outside loopback it needs a certificate"`
	PeerTLSCertFile     settings.FilePath   `envconfig:"PEER_TLS_CERT_FILE" takes:"the path of a file" doc:"its certificate in PEM, followed by the intermediates: it then takes TLS 1.3 only. Reread on change"`
	PeerTLSKeyFile      settings.FilePath   `envconfig:"PEER_TLS_KEY_FILE" takes:"the path of a file" doc:"the certificate's private key in PEM, without a password"`
	PeerTLSClientCAFile settings.FilePath   `envconfig:"PEER_TLS_CLIENT_CA_FILE" takes:"the path of a file" doc:"authorities in PEM, one of which must have signed the certificate that another place shows. Reread on change; empty = no client certificates"`
	PeerTLSNames        list                `envconfig:"PEER_TLS_NAMES" takes:"comma-separated host names and addresses" doc:"names of the certificate that -init-place makes: those by which the other places reach this one; empty = this host's name and addresses"`
	PeerToken           peerTokens          `envconfig:"PEER_TOKEN" file:"true" takes:"a token of at least 16 printable ASCII characters without spaces, or two of them with a comma between" doc:"bearer credential of that listener, of at least 16 characters; two, comma-separated, for rotation: both are accepted"`
	PeerTokensFile      settings.FilePath   `envconfig:"PEER_TOKENS_FILE" takes:"the path of a file" doc:"in place of PEER_TOKEN a token for each other place, so that one can be cut off: a JSON object of lists of at most two tokens by ID of the place. Reread on change"`

	AuditLogFile settings.FilePath `envconfig:"AUDIT_LOG_FILE" takes:"the path of a file" doc:"for answering complaints: a JSON object a line for each run that began (time, client, tool, host, requestId), rotated, mentioned on /privacy; %h stands for the name of this host, so that several gateways can share a folder; empty = off"`

	daemon.Settings
}

// Parse reads the settings out of an environment ("NAME=value" each).
func Parse(env []string) (Config, error) {
	c, err := settings.Parse[Config](env)
	if err != nil {
		return Config{}, err
	}
	if err := settings.Pair("DIAGNOSTICS_WORKER_CLIENT_CERT_FILE", c.WorkerClientCertFile != "",
		"DIAGNOSTICS_WORKER_CLIENT_KEY_FILE", c.WorkerClientKeyFile != ""); err != nil {
		return c, err
	}
	if err := c.checkPlaces(); err != nil {
		return c, err
	}
	return c, c.followDomain()
}

// CheckSlugs refuses DISABLED_TOOLS that name no tool.
func (c *Config) CheckSlugs(known []string) error {
	for _, slug := range c.DisabledTools {
		if !slices.Contains(known, slug) {
			return &settings.Error{Name: "DISABLED_TOOLS", Takes: "comma-separated slugs out of " + strings.Join(known, ", ")}
		}
	}
	return nil
}

// WorkerEnabled reports whether the worker's tools run.
func (c *Config) WorkerEnabled() bool {
	return bool(c.EnableWorkerTools) && c.WorkerURL != "" && !c.WorkerToken.IsZero()
}
