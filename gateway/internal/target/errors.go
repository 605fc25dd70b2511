package target

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text"
	"diagnostics/shared/netpolicy"
)

// advice is the last sentence of an error, which describes a valid input. It is empty where the text is not the
// client's own.
type advice struct{ host, addr, url string }

const (
	wantHostname = "Enter a valid public hostname, such as example.com."
	wantAddress  = "Enter a public IP address."
	wantURL      = "Enter a full URL that starts with http:// or https://, such as https://example.com/."
)

// maxShown bounds how much of a client's own text an error repeats, in characters.
const maxShown = 60

func show(s string) string { return text.Show(s, maxShown) }

// fail returns an error whose sentence ends in advice.
func fail(kind fault.Kind, want, format string, args ...any) *fault.Error {
	return fault.New(kind, strings.TrimSpace(fmt.Sprintf(format, args...)+" "+want))
}

// nameFault turns a netpolicy.NameError about what was typed into a sentence.
func nameFault(typed string, err error, want string) *fault.Error {
	ne, is := errors.AsType[*netpolicy.NameError](err)
	if !is {
		return fault.Wrap(fault.Invalid, err, want)
	}
	kind := fault.Invalid
	if ne.Refused() {
		kind = fault.Refused
	}
	shown := show(typed)
	if shown == "" {
		return fail(kind, want, "The hostname is missing.")
	}
	return fail(kind, want, "%s %s.", shown, ne.Say()).ByRule(ruleOfName(ne))
}

// ruleOfName is the rule by which a name is refused, empty where it is merely malformed.
func ruleOfName(e *netpolicy.NameError) fault.Rule {
	switch e.Problem {
	case netpolicy.NameSpecialUse:
		return fault.RuleSpecialName
	case netpolicy.NameSingleLabel:
		return fault.RuleLocalName
	case netpolicy.NameNumeric:
		return fault.RuleNumericName
	case netpolicy.NameUnderscoreEnd:
		return fault.RuleUnderscoreName
	}
	return ""
}

// permitAddr judges an address literal. The sentence repeats it, since the client sent it.
func permitAddr(a netip.Addr, want string) error {
	v := netpolicy.Judge(a)
	if v.Public {
		return nil
	}
	return fail(fault.Refused, want, "%s is %s (%s).", show(a.String()), v.Reason, v.Source).ByRule(fault.RuleOf(v))
}
