package workerapi

import (
	"net/netip"
	"regexp"
	"slices"
)

// Traced is a trace as the worker sends it: without sentences, which the gateway makes of the facts.
type Traced struct {
	Traceroute
	Facts []Fact `json:"facts"`
}

// Fact is something that a trace shows: a code of the gateway's catalogue, and what varies in it.
type Fact struct {
	About string `json:"about"` // AboutTrace, AboutHop or AboutMTU
	TTL   int    `json:"ttl,omitempty"`
	Code  string `json:"code"`
	// Args are numbers, codes, and lists of numbers as texts: nothing that could name an address.
	Args map[string]any `json:"args,omitempty"`
}

// What a fact is about.
const (
	AboutTrace = "trace"
	AboutHop   = "hop"
	AboutMTU   = "mtu"
)

const (
	maxFacts = 200 // a few of each hop
	maxArgs  = 5
)

var (
	factCode   = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,40}$`)
	factArg    = regexp.MustCompile(`^[a-z]{1,20}$`)
	factNumber = regexp.MustCompile(`^[0-9]{1,5}$`)
)

// Validate is Traceroute.Validate, and checks the facts. A worker of an earlier release sends none.
func (t Traced) Validate(asked netip.Addr) error {
	if err := t.Traceroute.Validate(asked); err != nil {
		return err
	}
	if len(t.Facts) > maxFacts {
		return breach("there are %d facts", len(t.Facts))
	}
	for i, f := range t.Facts {
		ofHop := slices.ContainsFunc(t.Hops, func(h Hop) bool { return h.TTL == f.TTL })
		switch {
		case !factCode.MatchString(f.Code):
			return breach("facts[%d].code is no code", i)
		case f.About == AboutHop && !ofHop, f.About == AboutMTU && t.MTU == nil,
			!slices.Contains([]string{AboutTrace, AboutHop, AboutMTU}, f.About):
			return breach("facts[%d] is about %.10q %d", i, f.About, f.TTL)
		case len(f.Args) > maxArgs:
			return breach("facts[%d] has %d arguments", i, len(f.Args))
		}
		for name, value := range f.Args {
			if !factArg.MatchString(name) || !validArg(value) {
				return breach("facts[%d]: no argument can be %.20q", i, name)
			}
		}
	}
	return nil
}

// validArg reports whether a value is one that a fact can have, before it was JSON and afterwards.
func validArg(value any) bool {
	switch v := value.(type) {
	case float64, int, uint16:
		return true
	case string:
		return factCode.MatchString(v)
	case []string:
		return len(v) <= MaxHops && !slices.ContainsFunc(v, isNoNumber)
	case []any:
		return len(v) <= MaxHops && !slices.ContainsFunc(v, func(element any) bool {
			text, is := element.(string)
			return !is || isNoNumber(text)
		})
	}
	return false
}

func isNoNumber(text string) bool { return !factNumber.MatchString(text) }
