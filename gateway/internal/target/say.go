package target

import (
	"errors"
	"net/netip"
	"strings"
	"unicode"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/netpolicy"
)

// What would be right, the last sentence of every error.
const (
	wantHostname = "Enter a valid public hostname, such as example.com."
	wantDomain   = "Enter a public domain name, such as example.com."
	wantAddress  = "Enter a public IP address."
	wantHost     = "Enter a public hostname or IP address, such as example.com."
)

// maxShown bounds how much of a visitor's own text an error repeats.
const maxShown = 60

// show gives the visitor's own text for a sentence: short, on one line, and without characters that are invisible or turn
// the reading order around.
func show(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.In(r, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar {
			continue
		}
		if n == maxShown {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// nameFault turns a netpolicy.NameError about what was typed into a sentence.
func nameFault(typed string, err error, want string) *fault.Error {
	var ne *netpolicy.NameError
	if !errors.As(err, &ne) || ne.Problem == netpolicy.NameEmpty || show(typed) == "" {
		return fault.New(fault.Invalid, want)
	}
	kind := fault.Invalid
	if ne.Refused() {
		kind = fault.Refused
	}
	return fault.Newf(kind, "%s %s. %s", show(typed), ne.Say(), want)
}

// permitAddr judges a typed address. The sentence repeats the address: the visitor knows it.
func permitAddr(a netip.Addr, want string) error {
	v := netpolicy.Judge(a)
	if v.Public {
		return nil
	}
	if v.Source == "" {
		return fault.Newf(fault.Refused, "%s is %s. %s", show(a.String()), v.Reason, want)
	}
	return fault.Newf(fault.Refused, "%s is %s (%s). %s", show(a.String()), v.Reason, v.Source, want)
}
