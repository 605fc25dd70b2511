package config

import (
	"diagnostics/gateway/internal/providers/rdap"
	"diagnostics/gateway/internal/target"
)

// UsesLists reports whether IANA's lists are used first: a configured redirector gets every query.
func (c *Config) UsesLists() bool {
	standard, err := target.ParseOperatorURL(rdap.DefaultBase)
	return err == nil && c.RDAPBaseURL.URL == standard
}

// OwnRedirector is the host of the operator's own redirector, empty for IANA's lists and rdap.org.
func (c *Config) OwnRedirector() string {
	if c.UsesLists() {
		return ""
	}
	return c.RDAPBaseURL.Host().String()
}

// RDAPHosts are the hosts of the operator's own RDAP services, which may be anywhere.
func (c *Config) RDAPHosts() []string {
	hosts := []string{c.RDAPBaseURL.Authority()}
	if c.UsesLists() && c.RDAPBootstrapURL.URL != (target.URL{}) {
		hosts = append(hosts, c.RDAPBootstrapURL.Authority())
	}
	return hosts
}
