package spf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
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
		v.node.fail("nothing found (void lookup)")
		w.add(mail.Info, "SPF_VOID_LOOKUP", "RFC 7208 section 4.6.4",
			"The term %s names something that does not exist. Remove it, or publish what it names.", show(v))
	case v.term.Kind == MX && v.count > maxExchanges:
		v.node.fail("more than ten exchanges")
		w.add(mail.Fail, "SPF_TOO_MANY_EXCHANGES", "RFC 7208 section 4.6.4",
			"The term %s leads to %d mail exchanges, and receivers reject more than 10. Replace it with ip4 and ip6 terms.",
			show(v), v.count)
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
	what := "The SPF record of " + mail.Show(v.domain)
	if v.parent != nil {
		what = "The term " + show(v)
	}
	w.add(mail.Warn, "SPF_LOOKUP_FAILED", "RFC 7208 section 2.6.6",
		"%s could not be looked up: %s. %s", what, failure.Reason(), failure.Advice())
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
	v.node.fail("several SPF records")
	if v.parent == nil {
		w.report.Found = true
	}
	w.add(mail.Fail, "SPF_SEVERAL_RECORDS", "RFC 7208 section 4.5",
		"%s has %d SPF records, so receivers use none of them. Merge them into one.", mail.Show(v.domain), len(records))
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
		v.node.fail("too long to be read")
		w.add(mail.Fail, "SPF_RECORD_UNREADABLE", "RFC 7208 section 3.4",
			"The SPF record of %s has %d octets and was not read. Shorten it to 450.", mail.Show(v.domain), len(whole))
		return nil
	}
	return w.readTerms(v, record)
}

func (w *walk) noRecord(v *visit) {
	for _, txt := range v.txt {
		if IsNear(txt) {
			w.add(mail.Fail, "SPF_VERSION", "RFC 7208 section 4.5",
				"%s has a TXT record that is not recognized as SPF: %q. It must begin with v=spf1 and a space.",
				mail.Show(v.domain), mail.Show(txt))
		}
	}
	v.node.fail("no SPF record")
	if v.parent == nil {
		return
	}
	w.add(mail.Fail, "SPF_TARGET_WITHOUT_RECORD", "RFC 7208 section "+section(v.term.Kind),
		"The term %s names a domain without an SPF record, which makes the whole record invalid. Correct or remove it.",
		show(v))
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
		node.fail(t.Problem)
	case ignored:
		node.Ignored = true
		node.fail("ignored: all comes before it")
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
			w.add(mail.Info, "SPF_MACRO_NOT_FOLLOWED", "RFC 7208 section 7",
				"What the term %s looks up is different for each mail, so it was not followed. It counts as one lookup.",
				w.name(v, t))
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
			v.node.fail("a loop")
			w.add(mail.Fail, "SPF_LOOP", "RFC 7208 section 4.6.4",
				"The term %s leads back to %s in an endless loop. Remove it.", show(v), mail.Show(name))
			return nil
		}
	}
	return v
}

// noName judges a term whose name cannot exist. RFC 7208 leaves open what becomes of it; an include or redirect of
// nothing is an error all the same (sections 4.3, 5.2 and 6.1).
func (w *walk) noName(v *visit) {
	v.node.fail("not a possible name")
	const text = "The term %s leads to %q, which cannot be a name: each label must have 1 to 63 characters. "
	if v.record() {
		w.add(mail.Fail, "SPF_NAME_INVALID", "RFC 7208 section "+section(v.term.Kind),
			text+"That makes the whole record invalid. Correct or remove it.", show(v), mail.Show(v.domain))
		return
	}
	w.add(mail.Warn, "SPF_NAME_INVALID", "RFC 7208 section 4.8",
		text+"It matches no sender, and some receivers treat the whole record as invalid. Correct or remove it.",
		show(v), mail.Show(v.domain))
}

// notPublic judges a term whose name belongs to private networks or to none. It is not looked up.
func (w *walk) notPublic(v *visit) {
	v.node.fail("not a name in the public DNS")
	if v.record() {
		w.add(mail.Fail, "SPF_TARGET_NOT_PUBLIC", "RFC 7208 section "+section(v.term.Kind),
			"The term %s does not name a domain in the public DNS, which makes the whole record invalid. Correct or remove "+
				"it.", show(v))
		return
	}
	w.add(mail.Warn, "SPF_TARGET_NOT_PUBLIC", "RFC 7208 section 4.8",
		"The term %s does not name a domain in the public DNS, so it matches no one. Correct or remove it.",
		show(v))
}

func (w *walk) add(severity mail.Severity, code, reference, format string, args ...any) {
	w.report.Issues.Add(severity, code, reference, fmt.Sprintf(format, args...))
}

func (n *Node) fail(why string) { n.Error = &why }

// show names a term, and the record that it stands in where that is not the domain's own.
func show(v *visit) string {
	text := mail.Show(v.term.Text)
	if v.parent.parent == nil {
		return text
	}
	return text + " in the record of " + mail.Show(v.parent.domain)
}

func section(k Kind) string {
	if k == Redirect {
		return "6.1"
	}
	return "5.2"
}
