package spf

import (
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/ascii"
	"diagnostics/shared/netpolicy"
)

// Lengths of RFC 7208 section 3.4: what fits in 512 octets with the rest of an answer, and what does not fit at all.
const (
	safeOctets = 450
	udpOctets  = 512
)

func (w *walk) judgeText(v *visit, record string, truncated bool) {
	domain := mail.Show(v.domain)
	switch octets := (finding.Args{"domain": domain, "octets": len(record)}); {
	case len(record) > udpOctets:
		w.add("SPF_RECORD_TOO_LONG", octets)
	case len(record) > safeOctets:
		w.add("SPF_RECORD_LONG", octets)
	}
	if truncated {
		w.fault("SPF_TOO_MANY_TERMS", finding.Args{"domain": domain, "most": maxTerms})
	}
	if !ascii.Is(record) {
		w.fault("SPF_NOT_ASCII", finding.Args{"domain": domain})
	}
}

// judgeTerms says what is wrong with the terms of one record, whatever they lead to.
func (w *walk) judgeTerms(v *visit, terms []Term, truncated bool) {
	modifiers := map[Kind]int{}
	for _, t := range terms {
		if t.Problem != "" {
			w.fault("SPF_SYNTAX", named(v, t).With(finding.Args{"problem": t.Problem, "meant": t.Meant}))
			continue
		}
		modifiers[t.Kind]++
		w.judgeTerm(v, t)
	}
	if modifiers[Redirect] > 1 || modifiers[Exp] > 1 {
		w.fault("SPF_MODIFIER_TWICE", finding.Args{"domain": mail.Show(v.domain)})
	}
	w.judgeOrder(v, terms)
	if v.final && !truncated {
		w.judgeEnd(v, terms)
	}
}

func (w *walk) judgeTerm(v *visit, t Term) {
	switch t.Kind {
	case PTR:
		w.add("SPF_PTR", named(v, t))
	case IP4, IP6:
		w.judgeNetwork(v, t)
	case A, MX:
		if t.Zero {
			w.matchesAll(v, t)
		}
	case UnknownModifier:
		if _, confused := mechanisms[t.Name]; confused {
			w.add("SPF_MODIFIER_UNKNOWN", named(v, t).With(finding.Args{"mechanism": t.Name}))
		}
	}
}

// broad are the shortest prefixes of networks that one sender may plausibly own.
var broad = map[Kind]int{IP4: 8, IP6: 16}

func (w *walk) judgeNetwork(v *visit, t Term) {
	switch {
	case t.Prefix.Bits() == 0:
		w.matchesAll(v, t)
	case t.Prefix.Bits() < broad[t.Kind] && t.Qualifier == '+' && v.passing:
		w.add("SPF_NETWORK_BROAD", named(v, t))
	case !netpolicy.Judge(t.Prefix.Addr()).Public:
		w.add("SPF_NETWORK_NOT_PUBLIC", named(v, t))
	}
}

// matchesAll is a term that every sender matches.
func (w *walk) matchesAll(v *visit, t Term) {
	if t.Qualifier == '+' && v.passing {
		w.fault("SPF_ALLOWS_ALL", named(v, t))
	}
}

// judgeOrder looks at "all" and what stands around it.
func (w *walk) judgeOrder(v *visit, terms []Term) {
	all := slices.IndexFunc(terms, Term.all)
	if all < 0 {
		return
	}
	w.matchesAll(v, terms[all])
	rest := terms[all+1:]
	if i := slices.IndexFunc(rest, func(t Term) bool { return !t.Kind.Modifier() }); i >= 0 {
		w.add("SPF_TERMS_AFTER_ALL", finding.Args{"domain": mail.Show(v.domain), "term": mail.Show(rest[i].Text)})
	}
	if slices.ContainsFunc(terms, func(t Term) bool { return t.Kind == Redirect && t.Problem == "" }) {
		w.add("SPF_REDIRECT_IGNORED", finding.Args{"domain": mail.Show(v.domain)})
	}
}

// judgeEnd reports a record that ends in nothing: no all, no redirect, and no all that was misspelt.
func (w *walk) judgeEnd(v *visit, terms []Term) {
	if slices.ContainsFunc(terms, func(t Term) bool {
		return t.Kind == Redirect || t.Kind == All || t.Problem != "" && strings.HasPrefix(t.Name, "all")
	}) {
		return
	}
	w.report.NoAllAt = v.domain
	w.add("SPF_NO_ALL", finding.Args{"domain": mail.Show(v.domain)})
}

// conclude judges what only the whole tree shows.
func (w *walk) conclude() {
	tree := w.report.Tree
	if w.report.All == "?all" {
		w.add("SPF_NEUTRAL_ALL", nil)
	}
	if tree.Lookups > MaxLookups {
		w.add("SPF_TOO_MANY_LOOKUPS", finding.Args{"lookups": tree.Lookups, "more": w.report.cut})
	}
	if tree.VoidLookups > MaxVoidLookups {
		w.add("SPF_TOO_MANY_VOID_LOOKUPS", finding.Args{"lookups": tree.VoidLookups})
	}
	if w.report.cut && !w.report.faulty && !w.report.tooCostly() {
		w.report.Failed = true
		w.add("SPF_NOT_FINISHED", nil)
	}
}

// tooCostly reports whether the record needs more lookups than receivers make.
func (r *Report) tooCostly() bool {
	return r.Tree.Lookups > MaxLookups || r.Tree.VoidLookups > MaxVoidLookups
}

func (t Term) all() bool { return t.Kind == All && t.Problem == "" }

// allOf gives the first "all" of a record, nil without one.
func allOf(terms []Term) *Term {
	if i := slices.IndexFunc(terms, Term.all); i >= 0 {
		return &terms[i]
	}
	return nil
}

// named are the arguments that name a term of a record, and the record if that is not the domain's own.
func named(v *visit, t Term) finding.Args {
	args := finding.Args{"term": mail.Show(t.Text)}
	if v.parent != nil {
		args["owner"] = mail.Show(v.domain)
	}
	return args
}
