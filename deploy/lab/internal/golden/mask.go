package golden

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// mask replaces a value that differs from run to run. at is the end of its path, with * for any part of a name; the
// elements of a list are at the path of the list. Only a value of the kind is replaced: null stays null, and a number
// that becomes a string shows.
type mask struct {
	at   string
	kind byte // the first byte of such a value: '0' for a number, '"' for a string, 't' for a truth value
	to   string
}

var masks = []mask{
	{"*Ms", '0', "<ms>"},
	{"args.took", '0', "<ms>"},
	{"args.median", '0', "<ms>"},
	{"args.time", '0', "<ms>"},
	{"args.off", '0', "<ms>"},
	// Where most of the time goes: on a busy machine, anywhere.
	{"args.nearer", '0', "<number>"},
	{"args.farther", '0', "<number>"},
	{"requestId", '"', "<uuid>"},
	{"serverTime", '"', "<time>"},
	{"fetchedAt", '"', "<time>"},
	{"measuredAt", '"', "<time>"},
	{"shared", 't', "<bool>"},
	{"queries", '0', "<number>"},
	{"servers.ms", '0', "<ms>"},
	{"validFrom", '"', "<time>"},
	{"validTo", '"', "<time>"},
	{"effectiveEnd", '"', "<time>"},
	{"args.end", '"', "<date>"},
	{"cached", 't', "<bool>"},
	{"details.*.ttl", '0', "<seconds>"},
	{"resolvers.ttl", '0', "<seconds>"},
	{"serialNumber", '"', "<serial>"},
	{"fingerprint256", '"', "<sha256>"},
}

// wordings are parts of texts that differ from run to run.
var wordings = []struct {
	what *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\b\d+(\.\d+)? ms\b`), "<ms> ms"},
	{regexp.MustCompile(`\bbetween hop \d+ and hop \d+\b`), "between hop <number> and hop <number>"},
	{regexp.MustCompile(`\bfor at most \d+ s\b`), "for at most <number> s"},
	// Of a certificate made with the lab, whose validity begins a week later.
	{regexp.MustCompile(`\bnot valid before \d+ [A-Z][a-z]+ \d{4}\b`), "not valid before <date>"},
	{regexp.MustCompile(`\bRenew it before \d+ [A-Z][a-z]+ \d{4};`), "Renew it before <date>;"},
	{regexp.MustCompile(`\bnetwork-diagnostics/[^ "]+`), "network-diagnostics/<version>"},
}

// apply replaces what differs, below a path.
func (n *node) apply(path []string) {
	if n.open == 0 {
		n.replace(path)
		return
	}
	for i, item := range n.items {
		below := path
		if n.open == '{' {
			below = slices.Concat(path, []string{text(n.keys[i])})
		}
		item.apply(below)
	}
	n.replaceDate()
	if n.open == '[' && fits("sources", path) {
		n.dropRepeats()
	}
}

// dropRepeats leaves one of the elements that are the same. A source is listed twice where some of an answer was
// cached and the rest fetched, which is chance.
func (n *node) dropRepeats() {
	var kept []*node
	for _, item := range n.items {
		if !slices.ContainsFunc(kept, func(k *node) bool { return k.line() == item.line() }) {
			kept = append(kept, item)
		}
	}
	n.items = kept
}

// reworded replaces the parts of a text that differ from run to run.
func reworded(text string) string {
	for _, w := range wordings {
		text = w.what.ReplaceAllString(text, w.to)
	}
	return text
}

func (n *node) replace(path []string) {
	n.raw = reworded(n.raw)
	for _, m := range masks {
		if m.kind == kindOf(n.raw) && fits(m.at, path) {
			n.raw = quote(m.to)
			return
		}
	}
}

// replaceDate replaces the value of a header of another server that is the time of day.
func (n *node) replaceDate() {
	if len(n.keys) == 2 && n.keys[0] == `"name"` && n.items[0].raw == `"date"` && kindOf(n.items[1].raw) == '"' {
		n.items[1].raw = quote("<time>")
	}
}

// fits reports whether the path ends as the pattern says.
func fits(pattern string, path []string) bool {
	parts := strings.Split(pattern, ".")
	if len(parts) > len(path) {
		return false
	}
	for i, part := range parts {
		name := path[len(path)-len(parts)+i]
		if end, starred := strings.CutPrefix(part, "*"); starred && strings.HasSuffix(name, end) {
			continue
		}
		if part != name {
			return false
		}
	}
	return true
}

func kindOf(raw string) byte {
	switch c := raw[0]; c {
	case '"':
		return c
	case 't', 'f':
		return 't'
	case 'n':
		return 'n'
	default:
		return '0'
	}
}

func text(raw string) (s string) {
	if json.Unmarshal([]byte(raw), &s) != nil {
		return raw
	}
	return s
}

func quote(s string) string { return `"` + s + `"` }
