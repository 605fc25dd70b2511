package spf

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/shared/netpolicy"
)

// Suggestion is a shorter record in place of one that is too long or too costly. It gives every sender the verdict that
// the record gives now, but for those that only ptr lets in.
type Suggestion struct {
	Record string `json:"record"`
	// Parts are records to publish beside it, which it includes.
	Parts []Part `json:"parts"`
	// Lookups is what it costs, its parts included.
	Lookups int `json:"lookups" wire:"max=10"`
	// Notes list each change and the work that it leaves to the domain's owner. There is at least one.
	Notes []mail.Issue `json:"-"`
}

// Part is a record of its own.
type Part struct {
	Name   string `json:"name"`
	Record string `json:"record"`
}

// Shorten looks for a record that says the same and keeps to the limits; nil where the record keeps to them already,
// where it has other faults, which come first, and where what was seen does not yield such a record.
func Shorten(ctx context.Context, dns AddressResolver, report Report) *Suggestion {
	tooCostly := report.tooCostly()
	if report.Record == nil || report.cut || report.Failed || report.faulty ||
		!tooCostly && len(*report.Record) <= safeOctets {
		return nil
	}
	s := shortener{root: report.root, addresses: addresses{}, rewritten: map[int]bool{}}
	if tooCostly {
		s.addresses.ask(ctx, dns, report.root)
	}
	s.read()
	return s.search()
}

// shortener rewrites the domain's own record. What it includes is not the domain's to change.
type shortener struct {
	root      *visit
	addresses addresses
	items     []item
	// tail are what stands at the end: all, or modifiers.
	tail []branch
	// behind are terms that all keeps from being reached.
	behind []string
	// rewritten are the items of which the addresses stand in the record in place of the term.
	rewritten map[int]bool
}

// item is a term that can match.
type item struct {
	branch
	set   networks
	known bool
	// size is how many networks the set is written as, maxRewritten at most; it may be rewritten where fits.
	size int
	fits bool
}

func (i item) literal() bool { return i.term.Kind == IP4 || i.term.Kind == IP6 }

func (s *shortener) read() {
	for _, b := range s.root.branches {
		switch {
		case b.node.Ignored:
			s.behind = append(s.behind, b.term.Text)
		case b.term.Kind == All, b.term.Kind.Modifier():
			s.tail = append(s.tail, b)
		default:
			set, known := s.addresses.matches(s.root, b)
			list, fits := set.prefixesUpTo(maxRewritten)
			s.items = append(s.items, item{b, set, known, len(list), known && fits || b.term.Kind == PTR})
		}
	}
}

// search rewrites one term after another until the record keeps to the limits.
func (s *shortener) search() *Suggestion {
	for {
		d := s.compose()
		found, isRecord := d.suggestion(s)
		costly := found.Lookups > MaxLookups || d.void > MaxVoidLookups
		next := s.next(d)
		switch {
		case isRecord && !costly && found.Record == *s.root.node.Record:
			return nil
		case isRecord && !costly:
			found.Notes = s.notes(d, found)
			return &found
		case !costly || next < 0:
			return nil
		}
		s.rewritten[next] = true
	}
}

// next is the term to rewrite or leave out: ptr first, then what names hosts, then includes, in each the one that takes
// the least room for what it saves; -1 where there is none.
func (s *shortener) next(d draft) int {
	best, price := -1, 0
	for _, i := range d.kept {
		it := s.items[i]
		if !it.fits {
			continue
		}
		cost := it.size * priceScale / max(1, it.node.Lookups)
		switch it.term.Kind {
		case PTR:
		case A, MX:
			cost += priceOfHosts
		default:
			cost += priceOfOthers
		}
		if best < 0 || cost < price {
			best, price = i, cost
		}
	}
	return best
}

const (
	// maxRewritten is how many networks a term is written as at most.
	maxRewritten = 60

	priceScale    = 100
	priceOfHosts  = priceScale * (maxRewritten + 1)
	priceOfOthers = 2 * priceOfHosts
)

// draft is a record under way.
type draft struct {
	runs []run
	// kept are the items whose terms stand in it.
	kept          []int
	lookups, void int
	// What was left out, and why.
	covered, empty, idle []string
	merged               bool
}

// run are terms that follow each other with the same qualifier, so that their order decides nothing.
type run struct {
	qualifier byte
	networks  []string
	terms     []string
}

// compose writes the items down, without those that decide nothing.
func (s *shortener) compose() draft {
	var d draft
	var seen networks
	said := map[string]bool{}
	for from := 0; from < len(s.items); {
		to := from + 1
		for to < len(s.items) && s.items[to].term.Qualifier == s.items[from].term.Qualifier {
			to++
		}
		seen = s.composeRun(&d, from, to, seen, said)
		from = to
	}
	for _, b := range s.tail {
		d.lookups += b.node.Lookups
		d.void += b.node.VoidLookups
	}
	return d
}

// composeRun writes the items from one to another down, which have one qualifier. seen are the senders that earlier
// runs decide on, said the terms that they have.
func (s *shortener) composeRun(d *draft, from, to int, seen networks, said map[string]bool) networks {
	r := run{qualifier: s.items[from].term.Qualifier}
	decided := seen.with(s.composeNetworks(d, &r, from, to, seen))
	for i := from; i < to; i++ {
		it := s.items[i]
		if it.literal() || s.rewritten[i] {
			continue
		}
		switch key := it.key(); {
		case it.known && len(it.set) == 0 && it.term.Kind == Include:
			d.idle = append(d.idle, it.term.Text)
		case it.known && len(it.set) == 0:
			d.empty = append(d.empty, it.term.Text)
		case said[key], it.known && it.set.in(decided):
			d.covered = append(d.covered, it.term.Text)
		default:
			said[key] = true
			d.kept = append(d.kept, i)
			d.lookups += it.node.Lookups
			d.void += it.node.VoidLookups
			r.terms = append(r.terms, it.term.Text)
		}
		if it.known {
			decided = decided.with(it.set)
		}
	}
	if len(r.networks)+len(r.terms) > 0 {
		d.runs = append(d.runs, r)
	}
	return decided
}

// composeNetworks writes those of the items down that stand there as networks, and gives the senders that these match.
func (s *shortener) composeNetworks(d *draft, r *run, from, to int, seen networks) networks {
	var spans []span
	count := 0
	for i := from; i < to; i++ {
		it := s.items[i]
		switch {
		case !it.literal() && (!s.rewritten[i] || it.term.Kind == PTR):
		case it.known && it.set.in(seen):
			if it.literal() {
				d.covered = append(d.covered, it.term.Text)
			}
		case !it.known: // an address that receivers read in two ways
			r.terms = append(r.terms, it.term.Text)
		default:
			spans = append(spans, it.set...)
			count++
		}
	}
	written := setOf(spans...)
	for _, p := range written.prefixes() {
		r.networks = append(r.networks, networkTerm(r.qualifier, p))
	}
	d.merged = d.merged || len(r.networks) < count
	return written
}

// key is the same for terms that match the same senders, whatever they make of them.
func (i item) key() string {
	text := strings.TrimLeft(i.term.Text, "+-~?")
	if i.term.Macros {
		return text // in capitals a macro means another thing
	}
	return strings.ToLower(text)
}

// suggestion is the draft as a record with its cost, with as many networks in records of their own as it takes to keep
// it short. It is no record where that is not enough.
func (d draft) suggestion(s *shortener) (found Suggestion, isRecord bool) {
	found = Suggestion{Record: s.text(d.runs), Parts: []Part{}, Lookups: d.lookups}
	if len(found.Record) <= safeOctets {
		return found, true
	}
	isRecord = found.split(s, d)
	found.Lookups += len(found.Parts)
	return found, isRecord
}

// split moves the networks of the longest run that passes into records of their own, and reports whether that is
// enough.
func (f *Suggestion) split(s *shortener, d draft) bool {
	runs := slices.Clone(d.runs)
	longest := -1
	for i, r := range runs {
		if r.qualifier == '+' && (longest < 0 || len(r.networks) > len(runs[longest].networks)) {
			longest = i
		}
	}
	if longest < 0 {
		return false
	}
	var includes []string
	for left := runs[longest].networks; len(left) > 0; {
		name := fmt.Sprintf("_spf%d.%s", len(f.Parts)+1, s.root.domain)
		text := version
		for len(left) > 0 && len(text)+1+len(left[0])+len(partEnd) <= safeOctets {
			text += " " + left[0]
			left = left[1:]
		}
		if len(name) > netpolicy.MaxNameOctets || len(f.Parts) == MaxLookups {
			return false
		}
		f.Parts = append(f.Parts, Part{Name: name, Record: text + partEnd})
		includes = append(includes, "include:"+name)
	}
	runs[longest].networks, runs[longest].terms = nil, append(includes, runs[longest].terms...)
	f.Record = s.text(runs)
	return len(f.Record) <= safeOctets
}

// partEnd is how a part ends. An include looks for a pass alone, so that any end but +all would do.
const partEnd = " -all"

// text is the record with these runs.
func (s *shortener) text(runs []run) string {
	fields := []string{version}
	for _, r := range runs {
		fields = append(fields, r.networks...)
		fields = append(fields, r.terms...)
	}
	for _, b := range s.tail {
		fields = append(fields, b.term.Text)
	}
	return strings.Join(fields, " ")
}

// notes lists the changes, the most important first.
func (s *shortener) notes(d draft, found Suggestion) []mail.Issue {
	var hosts, includes, reverse []string
	for _, i := range slices.Sorted(maps.Keys(s.rewritten)) {
		switch it := s.items[i]; it.term.Kind {
		case PTR:
			reverse = append(reverse, it.term.Text)
		case A, MX:
			hosts = append(hosts, it.term.Text)
		default:
			includes = append(includes, it.term.Text)
		}
	}
	notes := []mail.Issue{}
	for _, note := range []struct {
		terms []string
		code  string
	}{
		{includes, "SPF_INCLUDES_EXPANDED"}, {hosts, "SPF_HOSTS_REPLACED"}, {reverse, "SPF_PTR_LEFT_OUT"},
		{d.empty, "SPF_VOID_LEFT_OUT"}, {d.idle, "SPF_IDLE_LEFT_OUT"}, {d.covered, "SPF_COVERED_LEFT_OUT"},
		{s.behind, "SPF_AFTER_ALL_LEFT_OUT"},
	} {
		if len(note.terms) > 0 {
			notes = append(notes, mail.Issue{Code: note.code, Args: listed(counted(note.terms))})
		}
	}
	if d.merged {
		notes = append(notes, mail.Issue{Code: "SPF_NETWORKS_MERGED"})
	}
	if len(found.Parts) > 0 {
		notes = append(notes, mail.Issue{Code: "SPF_PARTS_FIRST"})
	}
	return notes
}

// maxListed is how many terms a note names.
const maxListed = 8

// counted names each term once, with how often it stands there.
func counted(terms []string) []string {
	times := map[string]int{}
	var each []string
	for _, term := range terms {
		if times[term]++; times[term] == 1 {
			each = append(each, term)
		}
	}
	for i, term := range each {
		if n := times[term]; n > 1 {
			each[i] = fmt.Sprintf("%s (%d times)", term, n)
		}
	}
	return each
}

// listed are the arguments that list terms.
func listed(terms []string) finding.Args {
	shown := make([]string, 0, maxListed)
	for _, t := range terms[:min(len(terms), maxListed)] {
		shown = append(shown, mail.Show(t))
	}
	args := finding.Args{"terms": strings.Join(shown, ", ")}
	if more := len(terms) - len(shown); more > 0 {
		args["more"] = more
	}
	return args
}

func networkTerm(qualifier byte, p netip.Prefix) string {
	name, network := "ip4", p.String()
	if p.Addr().Is6() {
		name = "ip6"
	}
	if p.IsSingleIP() {
		network = p.Addr().String()
	}
	return strings.TrimPrefix(string(qualifier), "+") + name + ":" + network
}
