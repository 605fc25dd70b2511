package spf

import (
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/shared/ascii"
	"diagnostics/shared/netpolicy"
)

// Lengths of RFC 7208 section 3.4: what fits in 512 octets with the rest of an answer, and what does not fit at all.
const (
	safeOctets = 450
	udpOctets  = 512
)

func (w *walk) judgeText(v *visit, record string, truncated bool) {
	owner := mail.Show(v.domain)
	switch {
	case len(record) > udpOctets:
		w.add(mail.Warn, "SPF_RECORD_TOO_LONG", "RFC 7208 section 3.4",
			"The SPF record of %s has %d octets, which do not fit in a plain DNS answer of 512. Shorten it or move parts into "+
				"an include.", owner, len(record))
	case len(record) > safeOctets:
		w.add(mail.Info, "SPF_RECORD_LONG", "RFC 7208 section 3.4",
			"The SPF record of %s has %d octets; up to 450 are sure to fit in a plain DNS answer.", owner, len(record))
	}
	if truncated {
		w.add(mail.Fail, "SPF_TOO_MANY_TERMS", "RFC 7208 section 3.4",
			"The SPF record of %s has more than %d terms. Shorten it.", owner, maxTerms)
	}
	if !ascii.Is(record) {
		w.add(mail.Fail, "SPF_NOT_ASCII", "RFC 7208 section 3.1",
			"The SPF record of %s has characters outside ASCII. Retype it: such characters often come from a word "+
				"processor.", owner)
	}
}

// judgeTerms says what is wrong with the terms of one record, whatever they lead to.
func (w *walk) judgeTerms(v *visit, terms []Term, truncated bool) {
	modifiers := map[Kind]int{}
	for _, t := range terms {
		if t.Problem != "" {
			w.add(mail.Fail, "SPF_SYNTAX", "RFC 7208 section 4.6",
				"The term %s %s. One such term makes the whole record invalid.", w.name(v, t), t.Problem)
			continue
		}
		modifiers[t.Kind]++
		w.judgeTerm(v, t)
	}
	if modifiers[Redirect] > 1 || modifiers[Exp] > 1 {
		w.add(mail.Fail, "SPF_MODIFIER_TWICE", "RFC 7208 section 6",
			"The SPF record of %s has redirect or exp more than once. Keep one.", mail.Show(v.domain))
	}
	w.judgeOrder(v, terms)
	if v.final && !truncated {
		w.judgeEnd(v, terms)
	}
}

func (w *walk) judgeTerm(v *visit, t Term) {
	switch t.Kind {
	case PTR:
		w.add(mail.Warn, "SPF_PTR", "RFC 7208 section 5.5",
			"The term %s is slow and unreliable and should not be used. Replace it with ip4, ip6 or a terms.", w.name(v, t))
	case IP4, IP6:
		w.judgeNetwork(v, t)
	case A, MX:
		if t.Zero {
			w.matchesAll(v, t)
		}
	case UnknownModifier:
		if _, confused := mechanisms[t.Name]; confused {
			w.add(mail.Warn, "SPF_MODIFIER_UNKNOWN", "RFC 7208 section 4.6.1", "The term %s has an equals sign where a "+
				"colon belongs, and is ignored. Write %s with a colon.", w.name(v, t), t.Name)
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
		w.add(mail.Warn, "SPF_NETWORK_BROAD", "RFC 7208 section 10.1.1",
			"The term %s lets a large part of the internet send mail. Name only the networks that need to.", w.name(v, t))
	case !netpolicy.Judge(t.Prefix.Addr()).Public:
		w.add(mail.Info, "SPF_NETWORK_NOT_PUBLIC", "RFC 7208 section 5.6",
			"The term %s names addresses that are not public, so no mail comes from them. It can be removed.", w.name(v, t))
	}
}

// matchesAll is a term that every sender matches.
func (w *walk) matchesAll(v *visit, t Term) {
	if t.Qualifier == '+' && v.passing {
		w.add(mail.Fail, "SPF_ALLOWS_ALL", "RFC 7208 section 5.1",
			"The term %s lets anyone send mail as this domain. Name the senders instead.", w.name(v, t))
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
		w.add(mail.Warn, "SPF_TERMS_AFTER_ALL", "RFC 7208 section 5.1",
			"In the SPF record of %s the term %s comes after all and is never reached. Move it to the front or remove it.",
			mail.Show(v.domain), mail.Show(rest[i].Text))
	}
	if slices.ContainsFunc(terms, func(t Term) bool { return t.Kind == Redirect && t.Problem == "" }) {
		w.add(mail.Warn, "SPF_REDIRECT_IGNORED", "RFC 7208 section 6.1",
			"The SPF record of %s has both all and redirect, so redirect is ignored. Remove one.", mail.Show(v.domain))
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
	w.add(mail.Warn, "SPF_NO_ALL", "RFC 7208 section 4.7", "The SPF record of %s does not say what to do with "+
		"other senders. End it with -all or ~all.", mail.Show(v.domain))
}

// conclude judges what only the whole tree shows.
func (w *walk) conclude() {
	tree := w.report.Tree
	if w.report.All == "?all" {
		w.add(mail.Warn, "SPF_NEUTRAL_ALL", "RFC 7208 section 8.2",
			"The record ends in ?all, which says nothing about other senders. Use -all or ~all.")
	}
	if tree.Lookups > MaxLookups {
		atLeast := ""
		if w.report.cut {
			atLeast = "at least "
		}
		w.add(mail.Fail, "SPF_TOO_MANY_LOOKUPS", "RFC 7208 section 4.6.4",
			"The record needs %s%d lookups, and receivers make at most 10. Remove includes that are no longer used, or "+
				"replace a and mx with ip4 and ip6.", atLeast, tree.Lookups)
	}
	if tree.VoidLookups > MaxVoidLookups {
		w.add(mail.Fail, "SPF_TOO_MANY_VOID_LOOKUPS", "RFC 7208 section 4.6.4",
			"%d of the lookups find nothing, and receivers allow at most 2. Remove the terms whose names do not exist.",
			tree.VoidLookups)
	}
	if w.report.cut && !w.report.Issues.Has(mail.Fail) {
		w.report.Failed = true
		w.add(mail.Warn, "SPF_NOT_FINISHED", "RFC 7208 section 11.1",
			"The record leads to more lookups than one run makes, so part of it was not checked. Simplify it.")
	}
}

func (t Term) all() bool { return t.Kind == All && t.Problem == "" }

// allOf gives the first "all" of a record, nil without one.
func allOf(terms []Term) *Term {
	if i := slices.IndexFunc(terms, Term.all); i >= 0 {
		return &terms[i]
	}
	return nil
}

func (w *walk) name(v *visit, t Term) string { return show(&visit{parent: v, term: t}) }
