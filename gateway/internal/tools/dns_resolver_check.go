package tools

import (
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

// resolverCheck is what dns-resolver-check asks each of its resolvers.
type resolverCheck struct {
	domain     target.Domain
	recordType string
}

// LimitKey is the domain, whatever the record type.
func (c resolverCheck) LimitKey() string { return c.domain.LimitKey() }

func dnsResolverCheck(_ Deps) tool.Tool {
	return tool.New(tool.Spec[resolverCheck, any]{
		Slug:  "dns-resolver-check",
		Parse: parseResolverCheck,
	})
}

func parseResolverCheck(in tool.Input) (resolverCheck, error) {
	domain, err := target.ParseDomain(in.Text, true)
	if err != nil {
		return resolverCheck{}, err
	}
	recordType, err := in.Options.OneOf("recordType", "A", "A", "AAAA", "CNAME", "MX", "NS", "TXT", "CAA")
	if err != nil {
		return resolverCheck{}, err
	}
	return resolverCheck{domain: domain, recordType: recordType}, nil
}
