package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"diagnostics/gateway/internal/httpapi"

	"github.com/kelseyhightower/envconfig"
)

// Config is every setting of the gateway. The tags are the documentation: doc is the README's row, takes is what the
// one line says that refuses a value. Rules for all settings: set-but-empty is absent; a field with the tag file may come
// from a file named by NAME_FILE instead; a value is never printed.
type Config struct {
	ListenAddr        listenAddr     `envconfig:"GATEWAY_LISTEN_ADDR" default:"127.0.0.1:8080" takes:"host:port, such as 127.0.0.1:8080" doc:"public listener"`
	MetricsListenAddr listenAddr     `envconfig:"METRICS_LISTEN_ADDR" takes:"host:port, such as 127.0.0.1:9090" doc:"private listener for /metrics; empty = off"`
	PublicOrigin      httpapi.Origin `envconfig:"PUBLIC_ORIGIN" takes:"an origin, such as https://tools.example.com, without a path" doc:"the one allowed Origin, for deployments behind a proxy that rewrites Host; empty = the request's own Host"`

	EnableWorkerTools boolean   `envconfig:"ENABLE_WORKER_TOOLS" default:"false" takes:"true or false" doc:"with the next two, switches traceroute, ping and packet-loss on"`
	WorkerURL         workerURL `envconfig:"DIAGNOSTICS_WORKER_URL" takes:"an http or https URL without user, query or fragment" doc:"base URL of the worker"`
	WorkerToken       Secret    `envconfig:"DIAGNOSTICS_WORKER_TOKEN" file:"true" takes:"a token of printable ASCII without spaces, or two of them with a comma between" doc:"bearer credential of the worker; of two, comma-separated for rotation, the first is sent"`

	TrustProxyHeaders boolean      `envconfig:"TRUST_PROXY_HEADERS" default:"false" takes:"true or false" doc:"trust cf-connecting-ip, then x-real-ip, then the first of x-forwarded-for"`
	TrustedPlatform   choice       `envconfig:"TRUSTED_PROXY_PLATFORM" oneof:"cloudflare vercel" takes:"cloudflare or vercel" doc:"cloudflare or vercel trusts them too, as do the runtime flags CF_PAGES=1 and VERCEL=1"`
	TrustedCIDRs      cidrs        `envconfig:"TRUSTED_PROXY_CIDRS" takes:"comma-separated CIDRs, such as 10.0.0.0/8,fd00::/8" doc:"narrows trust to peers in these ranges, never grants it; empty = any peer"`
	CFPages           platformFlag `envconfig:"CF_PAGES" hidden:"true"`
	Vercel            platformFlag `envconfig:"VERCEL" hidden:"true"`

	RedisURL   redisURL `envconfig:"RATE_LIMIT_REDIS_URL" takes:"redis://, rediss:// or unix://, or a list of hosts after redis+cluster://, redis+sentinel://, rediss+cluster:// or rediss+sentinel://" doc:"shared store of limits and caches: redis://, rediss://, unix://, redis+cluster://h1:p,h2:p, redis+sentinel://h1:p,h2:p/master (rediss+… for TLS); empty = in memory"`
	RedisToken Secret   `envconfig:"RATE_LIMIT_REDIS_TOKEN" file:"true" takes:"the password of RATE_LIMIT_REDIS_URL" doc:"the password, where it is not in the URL"`

	Requests        count    `envconfig:"RATE_LIMIT_REQUESTS" default:"30" takes:"a whole number from 0 to 1000000000" doc:"requests per client, tool and target in a window"`
	Window          duration `envconfig:"RATE_LIMIT_WINDOW" default:"60s" positive:"true" takes:"a positive duration, such as 60s" doc:"the window of all four limits"`
	ClientRequests  count    `envconfig:"RATE_LIMIT_CLIENT_REQUESTS" default:"120" takes:"a whole number from 0 to 1000000000" doc:"requests per client over everything"`
	TargetRequests  count    `envconfig:"RATE_LIMIT_TARGET_REQUESTS" default:"300" takes:"a whole number from 0 to 1000000000" doc:"requests per target over all clients"`
	Samples         count    `envconfig:"RATE_LIMIT_SAMPLES" default:"1800" takes:"a whole number from 0 to 1000000000" doc:"samples of the two connection routes per client"`
	MaxInFlight     count    `envconfig:"MAX_IN_FLIGHT" default:"512" positive:"true" takes:"a whole number from 1 to 1000000000" doc:"tool runs at once in this instance"`
	MaxInFlightEach count    `envconfig:"MAX_IN_FLIGHT_PER_CLIENT" default:"8" takes:"a whole number from 0 to 1000000000" doc:"tool runs at once of one client"`

	Resolvers         resolvers   `envconfig:"DNS_RESOLVERS" takes:"comma-separated addresses, such as 9.9.9.9 or [2620:fe::fe]:53" doc:"resolvers of every lookup made for a visitor but those of dns-resolver-check; empty = the system's"`
	EgressFamilies    choice      `envconfig:"EGRESS_FAMILIES" default:"auto" oneof:"auto ipv4 ipv6 both" takes:"auto, ipv4, ipv6 or both" doc:"the address families that this host can reach: auto, ipv4, ipv6, both"`
	DenyTargets       denyTargets `envconfig:"DENY_TARGETS" takes:"comma-separated CIDRs and domain suffixes, such as 192.0.2.0/24,example.com" doc:"CIDRs and domain suffixes that are refused, comma-separated"`
	AllowOwnAddresses boolean     `envconfig:"ALLOW_OWN_ADDRESSES" default:"false" takes:"true or false" doc:"lets visitors reach this host's own public addresses"`
	DisabledTools     list        `envconfig:"DISABLED_TOOLS" takes:"comma-separated slugs of tools" doc:"slugs of tools that answer 501, comma-separated"`
	ContactURL        contactURL  `envconfig:"CONTACT_URL" takes:"an http, https or mailto URL" doc:"goes into the User-Agent and the footer of the pages"`
	RDAPBaseURL       rdapURL     `envconfig:"RDAP_BASE_URL" default:"https://rdap.org" takes:"an https URL without user, query or fragment" doc:"bootstrap and redirector of registration data"`
	ASNZone           zone        `envconfig:"ASN_DNS_ZONE" default:"asn.cymru.com" takes:"a domain name" doc:"zone of the DNS-based ASN service"`

	LogLevel        choice   `envconfig:"LOG_LEVEL" default:"info" oneof:"debug info warn error" takes:"debug, info, warn or error" doc:"least level that is logged: debug, info, warn, error"`
	LogFormat       choice   `envconfig:"LOG_FORMAT" default:"json" oneof:"json text" takes:"json or text" doc:"json, or text for people"`
	ShutdownDelay   duration `envconfig:"SHUTDOWN_DELAY" default:"0s" takes:"a duration, such as 5s" doc:"on SIGTERM: unready but still accepting for this long"`
	ShutdownTimeout duration `envconfig:"SHUTDOWN_TIMEOUT" default:"30s" takes:"a duration, such as 30s" doc:"then runs in flight may finish for this long"`
}

// settingError names a setting and what it takes. It never holds the value, which may be a secret.
type settingError struct{ name, takes string }

func (e *settingError) Error() string { return e.name + " takes " + e.takes }

// ParseConfig reads the settings out of an environment ("NAME=value" each).
func ParseConfig(env []string) (Config, error) {
	given := make(map[string]string)
	for _, pair := range env {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			given[name] = value
		}
	}
	for _, s := range settings() {
		if err := s.readFile(given); err != nil {
			return Config{}, err
		}
	}
	var c Config
	if err := process(given, &c); err != nil {
		return Config{}, err
	}
	return c, c.validate()
}

// setting is one field of Config with its tags.
type setting struct {
	index                     int
	name, fallback, takes     string
	doc                       string
	oneOf                     []string
	positive, fromFile, shown bool
}

// settings lists the fields of Config.
func settings() []setting {
	fields := reflect.VisibleFields(reflect.TypeFor[Config]())
	out := make([]setting, 0, len(fields))
	for i, f := range fields {
		out = append(out, setting{
			index:    i,
			name:     f.Tag.Get("envconfig"),
			fallback: f.Tag.Get("default"),
			takes:    f.Tag.Get("takes"),
			doc:      f.Tag.Get("doc"),
			oneOf:    strings.Fields(f.Tag.Get("oneof")),
			positive: f.Tag.Get("positive") == "true",
			fromFile: f.Tag.Get("file") == "true",
			shown:    f.Tag.Get("hidden") == "",
		})
	}
	return out
}

func (s setting) refused() error { return &settingError{name: s.name, takes: s.takes} }

const (
	fileSuffix   = "_FILE"
	maxFileBytes = 64 << 10
)

// readFile puts the content of NAME_FILE in the place of NAME.
func (s setting) readFile(given map[string]string) error {
	path, set := given[s.name+fileSuffix]
	if !s.fromFile || !set {
		return nil
	}
	if _, both := given[s.name]; both {
		return fmt.Errorf("%s and %s%s are both set: set one of them", s.name, s.name, fileSuffix)
	}
	takes := &settingError{name: s.name + fileSuffix, takes: "the path of a readable file that holds " + s.takes}
	f, err := os.Open(path)
	if err != nil {
		return takes
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	// A NUL cannot stand in the environment, which is where envconfig reads.
	if err != nil || text == "" || len(content) > maxFileBytes || strings.Contains(text, "\x00") {
		return takes
	}
	given[s.name] = text
	return nil
}

var environment sync.Mutex

// process lets envconfig fill the struct. It reads only the process environment, where a set-but-empty variable would
// beat a default; so for the length of the call our own names, and no others, hold what was given.
func process(given map[string]string, c *Config) error {
	environment.Lock()
	defer environment.Unlock()
	for _, s := range settings() {
		defer restore(s.name)()
		os.Unsetenv(s.name)
		if value, set := given[s.name]; set {
			if err := os.Setenv(s.name, value); err != nil {
				return s.refused()
			}
		}
	}
	err := envconfig.Process("", c)
	var malformed *envconfig.ParseError
	if !errors.As(err, &malformed) {
		return err
	}
	// envconfig's own message repeats the value.
	for _, s := range settings() {
		if s.name == malformed.KeyName {
			return s.refused()
		}
	}
	return errors.New("a setting is malformed")
}

func restore(name string) func() {
	before, set := os.LookupEnv(name)
	return func() {
		if !set {
			os.Unsetenv(name)
			return
		}
		_ = os.Setenv(name, before)
	}
}

// validate applies the tags that a single value's parser does not see, and the rules between settings.
func (c *Config) validate() error {
	v := reflect.ValueOf(*c)
	for _, s := range settings() {
		field := v.Field(s.index)
		if len(s.oneOf) > 0 && field.String() != "" && !slices.Contains(s.oneOf, field.String()) {
			return s.refused()
		}
		if s.positive && field.Int() < 1 {
			return s.refused()
		}
	}
	return c.tokens()
}

// tokens checks the worker's one or two tokens and keeps the first.
func (c *Config) tokens() error {
	if c.WorkerToken.IsZero() {
		return nil
	}
	all := strings.Split(c.WorkerToken.Reveal(), ",")
	for i := range all {
		all[i] = strings.Trim(all[i], " ")
		if all[i] == "" || strings.IndexFunc(all[i], notTokenRune) >= 0 {
			all = nil
			break
		}
	}
	if len(all) != 1 && len(all) != 2 {
		for _, s := range settings() {
			if s.name == "DIAGNOSTICS_WORKER_TOKEN" {
				return s.refused()
			}
		}
	}
	c.WorkerToken = NewSecret(all[0])
	return nil
}

func notTokenRune(r rune) bool { return r <= ' ' || r > '~' }

// CheckSlugs refuses DISABLED_TOOLS that name no tool.
func (c *Config) CheckSlugs(known []string) error {
	for _, slug := range c.DisabledTools {
		if !slices.Contains(known, slug) {
			return &settingError{name: "DISABLED_TOOLS", takes: "comma-separated slugs out of " + strings.Join(known, ", ")}
		}
	}
	return nil
}

// WorkerEnabled tells whether the worker's tools run.
func (c *Config) WorkerEnabled() bool {
	return bool(c.EnableWorkerTools) && c.WorkerURL != "" && !c.WorkerToken.IsZero()
}

// TrustsHeaders tells whether any of the grants of trust holds.
func (c *Config) TrustsHeaders() bool {
	return bool(c.TrustProxyHeaders) || c.TrustedPlatform != "" || bool(c.CFPages) || bool(c.Vercel)
}

// settingsTable is the README's table of settings.
func settingsTable() string {
	var b strings.Builder
	b.WriteString("| name | default | meaning |\n|---|---|---|\n")
	for _, s := range settings() {
		if !s.shown {
			continue
		}
		name, fallback := "`"+s.name+"`", "empty"
		if s.fromFile {
			name += " (or `" + s.name + fileSuffix + "`)"
		}
		if s.fallback != "" {
			fallback = "`" + s.fallback + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, fallback, s.doc)
	}
	return b.String()
}
