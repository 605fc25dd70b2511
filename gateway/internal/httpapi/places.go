package httpapi

import (
	"context"
	"slices"
	"strings"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/remote/places"
	"diagnostics/gateway/internal/tool"
)

// optionPlace is the option of every tool that runs elsewhere too.
const optionPlace = "place"

// choosePlace reads the option place, removes it, and sets where the tool runs. It reports whether that is elsewhere. A
// request of another place may not have it, so that none is forwarded twice.
func (s *Server) choosePlace(rc *requestContext, t tool.Tool, options tool.Options) (elsewhere bool, err error) {
	set := s.config.Places
	if set != nil && set.Here().ID != "" {
		rc.place = new(set.Here())
	}
	raw, given := options[optionPlace]
	delete(options, optionPlace)
	if !given || string(raw) == "null" {
		return false, nil
	}
	switch {
	case rc.from == fromPeer:
		return false, fault.OfOption(optionPlace, "PLACE_OF_PLACE", nil)
	case t.OnlyHere():
		return false, fault.OfOption(optionPlace, "TOOL_ONLY_HERE", nil)
	case rc.place == nil:
		return false, fault.OfOption(optionPlace, "NO_OTHER_PLACES", nil)
	}
	known := append([]places.Place{set.Here()}, set.Others()...)
	option := tool.Option{Name: optionPlace}
	for _, p := range known {
		option.Values = append(option.Values, p.ID)
	}
	id, err := option.Choice(tool.Options{optionPlace: raw})
	if err != nil {
		return false, err
	}
	rc.place = &known[slices.Index(option.Values, id)]
	return s.isElsewhere(rc), nil
}

// isElsewhere reports whether the tool runs at another place.
func (s *Server) isElsewhere(rc *requestContext) bool {
	return rc.place != nil && rc.place.ID != s.config.Places.Here().ID
}

// runElsewhere returns a run that forwards the request to another place.
func (s *Server) runElsewhere(
	rc *requestContext, t tool.Tool, job tool.Job, b body,
) func(context.Context) (any, error) {
	caller := rc.caller()
	run := places.Run{
		Tool: t, Job: job, Input: b.input, Options: b.options, Client: caller.Client, Network: caller.Network,
	}
	id := rc.place.ID
	return func(ctx context.Context) (any, error) { return s.config.Places.Run(ctx, id, run) }
}

// placeStates are the other places, nil where there are none.
func (s *Server) placeStates() map[string]State {
	if s.config.Places == nil {
		return nil
	}
	states := make(map[string]State)
	for id, serves := range s.config.Places.States() {
		states[id] = StateDown
		if serves {
			states[id] = StateOK
		}
	}
	return states
}

// isPseudonym reports whether a text can stand for a client of another place in keys of limits.
func isPseudonym(s string) bool {
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
