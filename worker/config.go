package main

import (
	"errors"
	"net/netip"
	"strconv"

	"diagnostics/daemon"
	"diagnostics/daemon/settings"
	"diagnostics/shared/netpolicy"
	"diagnostics/shared/workerapi"
)

// Config is every setting of the worker. The tags are the documentation, and package settings has their rules.
type Config struct {
	ListenAddr        settings.ListenAddr `envconfig:"WORKER_LISTEN_ADDR" default:"127.0.0.1:8081" takes:"host:port, such as 127.0.0.1:8081, where the host may be a range" doc:"listener for the gateway; of a range, such as 172.30.232.0/24:8081, this host's own address in it"`
	Tokens            tokens              `envconfig:"DIAGNOSTICS_WORKER_TOKEN" file:"true" takes:"a token of at least 16 printable ASCII characters without spaces, or two of them with a comma between" doc:"bearer credential, of at least 16 characters; two, comma-separated, for rotation: both are accepted. The worker does not start without one"`
	IncludeRaw        settings.Bool       `envconfig:"INCLUDE_RAW_DIAGNOSTICS" default:"false" takes:"true or false" doc:"adds the text that a command-line tool would print; it may name private hops"`
	MaxConcurrent     settings.Count      `envconfig:"WORKER_MAX_CONCURRENT" default:"64" positive:"true" takes:"a whole number from 1 to 1000000000" doc:"jobs at once; one more is answered 429. One visitor holds at most a sixteenth of them, an IPv6 /48 a quarter; neither share is below 3"`
	PacketsPerSecond  settings.Count      `envconfig:"WORKER_PACKETS_PER_SECOND" default:"5000" takes:"a whole number from 0 to 1000000000" doc:"probes a second in all; jobs over it are slowed down, those that cannot send all in their time are answered 429"`
	TargetPerSecond   settings.Count      `envconfig:"WORKER_TARGET_PACKETS_PER_SECOND" default:"100" takes:"a whole number from 0 to 1000000000" doc:"probes a second to one address; jobs over it are slowed down or answered 429 in the same way"`
	NAT64             translation         `envconfig:"NAT64_PREFIXES" takes:"comma-separated IPv6 prefixes of 32, 40, 48, 56, 64 or 96 bits, or auto" doc:"prefixes by which this network translates IPv6 addresses to IPv4 (RFC 6052), comma-separated: what they embed is judged, too. The gateway sends those that it knows with each job; auto adds none"`
	RunAsUID          identity            `envconfig:"RUN_AS_UID" takes:"a numeric user id above 0" doc:"user to become once the sockets are open; empty = keep the user"`
	RunAsGID          identity            `envconfig:"RUN_AS_GID" takes:"a numeric group id above 0" doc:"group to become once the sockets are open; empty = keep the group"`
	TLSCertFile       settings.FilePath   `envconfig:"WORKER_TLS_CERT_FILE" takes:"the path of a file" doc:"certificate in PEM, followed by the intermediates: the listener then takes TLS 1.3 only. Reread on change; empty = HTTP in clear text"`
	TLSKeyFile        settings.FilePath   `envconfig:"WORKER_TLS_KEY_FILE" takes:"the path of a file" doc:"the certificate's private key in PEM, without a password"`
	TLSClientCAFile   settings.FilePath   `envconfig:"WORKER_TLS_CLIENT_CA_FILE" takes:"the path of a file" doc:"authorities in PEM, one of which must have signed the certificate that a client shows; only /healthz is answered without one. Reread on change; empty = no client certificates"`
	MetricsListenAddr settings.ListenAddr `envconfig:"METRICS_LISTEN_ADDR" takes:"host:port, such as 127.0.0.1:9091" doc:"private listener for /metrics; empty = off"`

	daemon.Settings
}

// ParseConfig reads the settings out of an environment ("NAME=value" each).
func ParseConfig(env []string) (Config, error) {
	c, err := settings.Parse[Config](env)
	if err != nil {
		return Config{}, err
	}
	if len(c.Tokens) == 0 {
		return Config{}, errors.New("DIAGNOSTICS_WORKER_TOKEN is not set: the worker does not start without a token of at " +
			"least 16 characters")
	}
	return c, c.checkTLS()
}

func (c Config) checkTLS() error {
	if c.TLSClientCAFile != "" && c.TLSCertFile == "" && c.TLSKeyFile == "" {
		return errors.New("WORKER_TLS_CLIENT_CA_FILE is set without WORKER_TLS_CERT_FILE and WORKER_TLS_KEY_FILE: client " +
			"certificates need TLS")
	}
	return settings.Pair("WORKER_TLS_CERT_FILE", c.TLSCertFile != "", "WORKER_TLS_KEY_FILE", c.TLSKeyFile != "")
}

// SpeaksTLS reports whether the listener does.
func (c Config) SpeaksTLS() bool { return c.TLSCertFile != "" }

// tlsMode is TLS in the log's line of the start.
func (c Config) tlsMode() string {
	switch {
	case c.TLSClientCAFile != "":
		return "client certificates"
	case c.SpeaksTLS():
		return "on"
	}
	return "off"
}

// identity is a user or group id; 0 is unset, since becoming root is no way to drop rights.
type identity int

// maxIdentity is the highest id; the one above it means "no change" to the kernel.
const maxIdentity = 1<<32 - 2

func (i *identity) Decode(s string) error {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n < 1 || n > maxIdentity {
		return settings.ErrMalformed
	}
	*i = identity(n)
	return nil
}

// translation is NAT64_PREFIXES.
type translation []netip.Prefix

func (t *translation) Decode(s string) (err error) {
	*t, _, err = netpolicy.ParseTranslationPrefixes(s)
	return err
}

// tokens are the accepted bearer tokens: one, or two while one replaces the other.
type tokens []settings.Secret

func (t *tokens) Decode(s string) (err error) {
	*t, err = settings.ParseTokens(s, workerapi.MinTokenLength)
	return err
}

func (t tokens) reveal() []string {
	var all []string
	for _, s := range t {
		all = append(all, s.Reveal())
	}
	return all
}
