package tools

import (
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
)

// mailDomain is the domain whose mail records email-dns-health reads.
type mailDomain struct {
	domain target.Domain
	// selector is the DKIM selector, lower case; empty where none was given.
	selector string
}

// LimitKey is the domain, whatever the selector.
func (d mailDomain) LimitKey() string { return d.domain.LimitKey() }

func emailDNSHealth(_ Deps) tool.Tool {
	return tool.New(tool.Spec[mailDomain, any]{
		Slug:  "email-dns-health",
		Parse: parseMailDomain,
	})
}

func parseMailDomain(in tool.Input) (mailDomain, error) {
	domain, err := target.ParseDomain(in.Text, false)
	if err != nil {
		return mailDomain{}, err
	}
	typed, _, err := in.Options.String("dkimSelector")
	if err != nil {
		return mailDomain{}, err
	}
	selector, err := parseSelector(typed)
	if err != nil {
		return mailDomain{}, err
	}
	return mailDomain{domain: domain, selector: selector}, nil
}

const (
	maxSelector      = 253
	maxSelectorLabel = 63
)

// parseSelector takes a DKIM selector (RFC 6376 section 3.1): one or more labels of letters, digits, underscores and inner
// hyphens. A form that leaves its field empty has no selector.
func parseSelector(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	if len(s) > maxSelector {
		return "", fault.New(fault.Invalid, "The option dkimSelector must be at most 253 characters long.")
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isSelectorLabel(label) {
			return "", fault.New(fault.Invalid, "The option dkimSelector must be a DNS selector of letters, digits, underscores and inner hyphens, such as selector1.")
		}
	}
	return strings.ToLower(s), nil
}

func isSelectorLabel(label string) bool {
	if label == "" || len(label) > maxSelectorLabel {
		return false
	}
	for i := range len(label) {
		c := label[i]
		alnum := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_'
		inner := i > 0 && i < len(label)-1
		if !alnum && (c != '-' || !inner) {
			return false
		}
	}
	return true
}
