package target

import (
	"errors"
	"net/netip"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"
)

// advice holds the codes of the last sentence of an error, which describes a valid input. They are empty where the text
// is not the client's own.
type advice struct{ host, addr, url string }

const (
	wantHostname     = "ENTER_HOSTNAME"
	wantAddress      = "ENTER_ADDRESS"
	wantURL          = "ENTER_URL"
	wantDomain       = "ENTER_DOMAIN"
	wantRegistration = "ENTER_REGISTRATION"
	wantHostPort     = "ENTER_HOST_AND_PORT"
	wantPort         = "ENTER_PORT"
	wantASN          = "ENTER_ASN"
	wantQuery        = "ENTER_NETWORK"
)

// maxShown bounds how much of a client's own text an error repeats, in characters.
const maxShown = 60

func show(s string) string { return text.Show(s, maxShown) }

// fail returns an error whose sentence ends in advice. It writes the advice into args, because a second map would take
// 350 bytes of each caller's stack, and a waiting run keeps the stack that it needed to read its target.
func fail(kind fault.Kind, want, code string, args finding.Args) *fault.Error {
	if args == nil {
		args = finding.Args{}
	}
	args["advice"] = want
	return fault.New(kind, code, args)
}

// nameFault is the failure of a netpolicy.NameError about what was typed.
func nameFault(typed string, err error, want string) *fault.Error {
	ne, is := errors.AsType[*netpolicy.NameError](err)
	if !is {
		return fault.Wrap(fault.Invalid, err, want, nil)
	}
	kind, code := fault.Invalid, "NAME_INVALID"
	if ne.Refused() {
		kind, code = fault.Refused, "NAME_NOT_PUBLIC"
	}
	shown := show(typed)
	if shown == "" {
		return fail(kind, want, "NAME_MISSING", nil)
	}
	return fail(kind, want, code, finding.Args{"name": shown, "problem": ne.Say()}).ByRule(ruleOfName(ne))
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
	return fail(fault.Refused, want, "ADDRESS_NOT_PUBLIC",
		finding.Args{"address": show(a.String()), "problem": v.Reason, "source": v.Source}).ByRule(fault.RuleOf(v))
}
