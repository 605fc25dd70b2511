package spf

import (
	"context"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/parallel"
)

// walk is the state of one Check.
type walk struct {
	dns      Resolver
	report   Report
	followed int
	nodes    int
}

// visit is a term that leads to a lookup. The root has no term.
type visit struct {
	node   *Node
	parent *visit
	term   Term
	// domain is the name to look up, in lower case and without a trailing dot.
	domain string
	// passing reports whether a match below here is a pass of the domain itself: every include on the way is a "+".
	passing bool
	// final means that this record's own "all" decides for the domain: the root, and redirects from it.
	final bool

	// What the lookup gave: TXT records or exchanges, or how many addresses.
	txt       []string
	exchanges []string
	count     int
	err       error

	// branches are the terms of the record that the lookup gave.
	branches []branch
}

// branch is a term of a record with what it leads to: its node, and its visit where that was looked up.
type branch struct {
	term  Term
	node  *Node
	visit *visit
}

// record reports whether the visit leads to a record of its own.
func (v *visit) record() bool {
	return v.parent == nil || v.term.Kind == Include || v.term.Kind == Redirect
}

// fetch makes the lookups of a level at once.
func (w *walk) fetch(ctx context.Context, level []*visit) {
	var lookups parallel.Group
	for _, v := range level {
		w.followed++
		if w.followed > maxFollowed {
			v.err = &mail.LookupError{Code: mail.CodeBound}
			continue
		}
		lookups.Go(func() { v.look(ctx, w.dns) })
	}
	lookups.Wait()
}

func (v *visit) look(ctx context.Context, dns Resolver) {
	name := presentation(v.domain)
	if v.record() {
		v.txt, v.err = dns.TXT(ctx, name)
		v.count = len(v.txt)
		return
	}
	switch v.term.Kind {
	case MX:
		v.exchanges, v.err = dns.MX(ctx, name)
		v.count = len(v.exchanges)
	case Exists:
		addresses, err := dns.V4(ctx, name)
		v.count, v.err = len(addresses), err
	default:
		addresses, err := dns.Addresses(ctx, name)
		v.count, v.err = len(addresses), err
	}
}

// read judges what a lookup gave and returns what it leads to.
func (w *walk) read(v *visit) []*visit {
	if failure := mail.Failure(v.err); failure != nil {
		w.failed(v, failure)
		return nil
	}
	void := v.err != nil || v.count == 0
	if void && v.parent != nil {
		v.node.VoidLookups++
	}
	if v.record() {
		return w.readRecords(v)
	}
	switch {
	case void:
		v.node.Void = true
		v.node.fail("SPF_VOID_LOOKUP", nil)
		w.add("SPF_VOID_LOOKUP", v.named())
	case v.term.Kind == MX && v.count > maxExchanges:
		v.node.fail("SPF_TOO_MANY_EXCHANGES", nil)
		w.fault("SPF_TOO_MANY_EXCHANGES", v.named().With(finding.Args{"exchanges": v.count}))
	}
	return nil
}

func (w *walk) failed(v *visit, failure *mail.LookupError) {
	v.node.fail(failure.Reason())
	if failure.Code == mail.CodeBound {
		w.report.cut = true
		return
	}
	w.report.Failed = true
	what := finding.Args{"domain": mail.Show(v.domain)}
	if v.parent != nil {
		what = v.named()
	}
	w.add("SPF_LOOKUP_FAILED", what.With(failure.Advised()))
}

// readRecords picks the SPF record out of the TXT records.
func (w *walk) readRecords(v *visit) []*visit {
	records := slices.DeleteFunc(slices.Clone(v.txt), func(txt string) bool { return !IsRecord(txt) })
	switch len(records) {
	case 0:
		w.noRecord(v)
		return nil
	case 1:
		return w.readRecord(v, records[0])
	}
	v.node.fail("SPF_SEVERAL_RECORDS", nil)
	if v.parent == nil {
		w.report.Found = true
	}
	w.fault("SPF_SEVERAL_RECORDS", finding.Args{"domain": mail.Show(v.domain), "records": len(records)})
	return nil
}

func (w *walk) readRecord(v *visit, record string) []*visit {
	whole := record
	if len(record) > maxOctets {
		record = strings.ToValidUTF8(record[:maxOctets], "")
	}
	v.node.Record = &record
	if v.parent == nil {
		w.report.Found, w.report.Record = true, &record
	}
	if len(whole) > maxOctets {
		v.node.Truncated = true
		v.node.fail("SPF_RECORD_UNREADABLE", nil)
		w.fault("SPF_RECORD_UNREADABLE", finding.Args{"domain": mail.Show(v.domain), "octets": len(whole)})
		return nil
	}
	return w.readTerms(v, record)
}

func (w *walk) noRecord(v *visit) {
	for _, txt := range v.txt {
		if IsNear(txt) {
			w.fault("SPF_VERSION", finding.Args{"domain": mail.Show(v.domain), "record": mail.Quoted(txt)})
		}
	}
	v.node.fail("SPF_TARGET_WITHOUT_RECORD", nil)
	switch {
	case v.parent == nil:
	case v.term.Kind == Redirect:
		w.fault("SPF_REDIRECT_WITHOUT_RECORD", v.named())
	default:
		w.fault("SPF_TARGET_WITHOUT_RECORD", v.named())
	}
}

// readTerms judges a record and adds its terms to the tree.
func (w *walk) readTerms(v *visit, record string) []*visit {
	terms, truncated := Parse(record)
	v.node.Truncated = truncated
	all := allOf(terms)
	if v.final {
		w.report.All, w.report.NoAllAt = "", ""
		if all != nil {
			w.report.All = string(all.Qualifier) + "all"
		}
	}
	w.judgeText(v, record, truncated)
	w.judgeTerms(v, terms, truncated)
	if v.parent == nil {
		w.report.SendsNothing = len(terms) == 1 && all != nil && all.Qualifier == '-'
	}
	var next []*visit
	past := false
	for _, t := range terms {
		if w.nodes >= maxNodes {
			w.report.cut, v.node.Truncated = true, true
			break
		}
		w.nodes++
		if child := w.addTerm(v, t, all, past); child != nil {
			next = append(next, child)
		}
		past = past || t.Kind == All
	}
	return next
}

// addTerm adds a term to the tree; a visit comes back where it leads to a lookup. past means that it stands behind
// "all".
func (w *walk) addTerm(v *visit, t Term, all *Term, past bool) *visit {
	node := &Node{Term: t.Text, Children: []*Node{}}
	v.node.Children = append(v.node.Children, node)
	ignored := past
	if t.Kind.Modifier() {
		ignored = t.Kind == Redirect && all != nil
	}
	domain := t.Spec
	if domain == "" && t.Kind.Lookup() {
		domain = v.domain
	}
	if domain != "" {
		node.Domain = &domain
	}
	var child *visit
	switch {
	case t.Problem != "":
		node.fail(t.Problem, finding.Args{"meant": t.Meant})
	case ignored:
		node.Ignored = true
		node.fail("SPF_TERM_IGNORED", nil)
	case t.Kind.Lookup():
		node.Lookups = 1
		child = w.follow(v, t, node)
	}
	v.branches = append(v.branches, branch{t, node, child})
	return child
}

// follow gives the visit to what a term names, nil where it leads to no lookup.
func (w *walk) follow(v *visit, t Term, node *Node) *visit {
	domain := v.domain
	if t.Spec != "" {
		var known bool
		if domain, known = expand(t.Spec, names{current: v.domain, sender: v.sender()}); !known {
			w.add("SPF_MACRO_NOT_FOLLOWED", named(v, t))
			return nil
		}
	}
	child := &visit{node: node, parent: v, term: t}
	child.passing = v.passing && (t.Kind != Include || t.Qualifier == '+')
	child.final = v.final && t.Kind == Redirect
	return w.aim(child, domain)
}

// aim sets the name that a visit looks up, or says why there is none.
func (w *walk) aim(v *visit, domain string) *visit {
	name := canonical(domain)
	v.domain = name
	v.node.Domain = &name
	switch {
	case !canBeName(name):
		w.noName(v)
		return nil
	case !isPublic(name):
		w.notPublic(v)
		return nil
	case v.term.Kind == PTR:
		return nil // what it looks up is the sender's address, which there is none of
	case !v.record():
		return v
	}
	for up := v.parent; up != nil; up = up.parent {
		if up.record() && up.domain == name {
			v.node.fail("SPF_LOOP", nil)
			w.fault("SPF_LOOP", v.named().With(finding.Args{"domain": mail.Show(name)}))
			return nil
		}
	}
	return v
}

// noName judges a term whose name cannot exist. RFC 7208 leaves open what becomes of it; an include or redirect of
// nothing is an error all the same (sections 4.3, 5.2 and 6.1).
func (w *walk) noName(v *visit) {
	v.node.fail("SPF_NAME_INVALID", nil)
	args := v.named().With(finding.Args{"name": mail.Quoted(v.domain)})
	switch {
	case v.term.Kind == Redirect:
		w.fault("SPF_REDIRECT_NAME_INVALID", args)
	case v.record():
		w.fault("SPF_NAME_INVALID", args)
	default:
		w.add("SPF_NAME_MATCHES_NONE", args)
	}
}

// notPublic judges a term whose name belongs to private networks or to none. It is not looked up.
func (w *walk) notPublic(v *visit) {
	v.node.fail("SPF_TARGET_NOT_PUBLIC", nil)
	switch {
	case v.term.Kind == Redirect:
		w.fault("SPF_REDIRECT_NOT_PUBLIC", v.named())
	case v.record():
		w.fault("SPF_TARGET_NOT_PUBLIC", v.named())
	default:
		w.add("SPF_NAME_NOT_PUBLIC", v.named())
	}
}

func (w *walk) add(code string, args finding.Args) { w.report.Issues.Add(code, args) }

// fault adds what makes the record useless, however short it is.
func (w *walk) fault(code string, args finding.Args) {
	w.report.faulty = true
	w.add(code, args)
}

func (n *Node) fail(code string, args finding.Args) { n.Fault = &mail.Issue{Code: code, Args: args} }

// named are the arguments that name the term of the visit.
func (v *visit) named() finding.Args { return named(v.parent, v.term) }
