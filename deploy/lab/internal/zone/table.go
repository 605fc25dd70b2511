// Package zone is the lab's DNS: a table of records and scripted answers, and servers on it that answer as a recursive
// resolver would.
package zone

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// maxChain is how many CNAMEs a server follows; a loop ends there, answered as resolvers do, by SERVFAIL.
const maxChain = 16

// Step is a scripted answer: what a table of records cannot say.
type Step struct {
	// Records are in zone-file spelling; an owner of "@" is the queried name.
	Records []string
	RCode   int
	// Delay comes before the answer.
	Delay time.Duration
	// Drop answers nothing at all.
	Drop bool
	// Truncate answers over UDP with TC and no records.
	Truncate bool
	// Authenticated sets AD.
	Authenticated bool
	// Extended are extended DNS errors (RFC 8914): code and text.
	Extended []dns.EDNS0_EDE
	// WithoutSOA leaves a negative answer without an authority section.
	WithoutSOA bool
}

// Table is the data of a server. The zero value is not usable; see NewTable.
type Table struct {
	mu      sync.RWMutex
	under   *Table
	records map[string]map[uint16][]dns.RR
	scripts map[string]*script
	derived map[string]func(name string) []string
}

type script struct {
	steps []Step
	cycle bool
	asked map[uint16]int
}

// next is the step of the next query for a type.
func (s *script) next(qtype uint16) Step {
	n := s.asked[qtype]
	s.asked[qtype]++
	if s.cycle {
		return s.steps[n%len(s.steps)]
	}
	return s.steps[min(n, len(s.steps)-1)]
}

// NewTable makes an empty table over another (nil for none): what it does not know is looked up there.
func NewTable(under *Table) *Table {
	return &Table{under: under, records: map[string]map[uint16][]dns.RR{}, scripts: map[string]*script{},
		derived: map[string]func(string) []string{}}
}

// Add adds records in zone-file spelling.
func (t *Table) Add(lines ...string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			return fmt.Errorf("record %q: %w", line, err)
		}
		name := dns.CanonicalName(rr.Header().Name)
		if t.records[name] == nil {
			t.records[name] = map[uint16][]dns.RR{}
		}
		t.records[name][rr.Header().Rrtype] = append(t.records[name][rr.Header().Rrtype], rr)
	}
	return nil
}

// Names are all names that records, scripts or zones of Derive have.
func (t *Table) Names() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	names := slices.Collect(maps.Keys(t.records))
	return slices.AppendSeq(slices.AppendSeq(names, maps.Keys(t.scripts)), maps.Keys(t.derived))
}

// Script answers the n-th query for a name and type with the n-th step; the last step goes on for ever. A step's
// records of other types than the queried (and CNAME) are left out.
func (t *Table) Script(name string, steps ...Step) { t.script(name, &script{steps: steps}) }

// Cycle does as Script, but begins again after the last step.
func (t *Table) Cycle(name string, steps ...Step) { t.script(name, &script{steps: steps, cycle: true}) }

func (t *Table) script(name string, s *script) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.asked = map[uint16]int{}
	t.scripts[dns.CanonicalName(name)] = s
}

// Derive answers for every name below a zone with what records gives for the name's labels before the zone, in
// zone-file spelling with "@" as the owner; a name for which it gives none does not exist. Records that were added win.
func (t *Table) Derive(zone string, records func(labels string) []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.derived[dns.CanonicalName(zone)] = records
}

// derive is what Derive gives for a name, nil where there is nothing.
func (t *Table) derive(name string) map[uint16][]dns.RR {
	for zone, records := range t.derived {
		labels, below := strings.CutSuffix(name, "."+zone)
		if !below {
			continue
		}
		byType := map[uint16][]dns.RR{}
		for _, line := range records(labels) {
			rr, err := dns.NewRR("$ORIGIN " + name + "\n" + line)
			if err != nil || rr == nil {
				return nil
			}
			byType[rr.Header().Rrtype] = append(byType[rr.Header().Rrtype], rr)
		}
		if len(byType) > 0 {
			return byType
		}
	}
	return nil
}

// step is the scripted answer that is due, if the name is scripted.
func (t *Table) step(name string, qtype uint16) (Step, bool) {
	t.mu.Lock()
	s, ok := t.scripts[name]
	if !ok {
		t.mu.Unlock()
		if t.under == nil {
			return Step{}, false
		}
		return t.under.step(name, qtype)
	}
	defer t.mu.Unlock()
	return s.next(qtype), true
}

// at is every record of a name; ok reports whether the name exists, if only as the parent of others.
func (t *Table) at(name string) (byType map[uint16][]dns.RR, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if found := t.records[name]; found != nil {
		return found, true
	}
	if found := t.derive(name); found != nil {
		return found, true
	}
	if t.under != nil {
		if found, ok := t.under.at(name); ok {
			return found, ok
		}
	}
	for owner := range t.records {
		if strings.HasSuffix(owner, "."+name) {
			return nil, true
		}
	}
	for owner := range t.scripts {
		if strings.HasSuffix(owner, "."+name) {
			return nil, true
		}
	}
	return nil, false
}

// soa is the SOA record of the zone that holds a name: the nearest above it, the root's for what the lab does not know.
func (t *Table) soa(name string) []dns.RR {
	for {
		if byType, ok := t.at(name); ok && len(byType[dns.TypeSOA]) > 0 {
			return byType[dns.TypeSOA]
		}
		if name == "." {
			return nil
		}
		next, end := dns.NextLabel(name, 0)
		if end {
			name = "."
			continue
		}
		name = name[next:]
	}
}
