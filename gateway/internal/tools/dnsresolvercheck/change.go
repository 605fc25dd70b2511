package dnsresolvercheck

import (
	"math"
	"time"
)

// change is a change of the domain's records that has not reached every resolver yet.
type change struct {
	// Resolvers are those that may still hold what was before, by id.
	Resolvers []string `json:"resolvers" wire:"len=1.. enum=cloudflare|google|quad9|opendns"`
	// Seconds is for how long they may at most.
	Seconds uint32 `json:"seconds"`
}

// leastUsed is how much of its time an answer must have behind it to be an older one, in seconds: one that was fetched
// for this run, and looked at again, is not.
const leastUsed = uint32(2 * secondLookAfter / time.Second)

// findChange distinguishes a change from answers that differ for other reasons. All of the domain's own servers that
// answered must agree, and those resolvers that differ from them must hold one and the same answer, of which some of
// the time has passed. Other addresses and aliases are also given by place, with the same look: there most resolvers
// must agree with the domain's servers, and what the others hold must be older than any answer of theirs.
func (c query) findChange(answers []resolverAnswer, own *authority) *change {
	if len(own.answered()) == 0 {
		return changeAmong(answers)
	}
	fresh, stale := matching(answers, true), matching(answers, false)
	if !own.Agreed || own.Alias != nil || len(stale) == 0 {
		return nil
	}
	bothHave := len(own.Values) > 0 && len(stale[0].Values) > 0
	if bothHave && c.answeredByPlace() && len(fresh) <= len(stale) {
		return nil
	}
	found := &change{}
	for _, answer := range stale {
		left, ok := c.olderFor(answer, fresh, own)
		if !ok || !answer.same(stale[0]) {
			return nil
		}
		found.Resolvers = append(found.Resolvers, answer.ID)
		found.Seconds = max(found.Seconds, left)
	}
	return found
}

// changeAmong finds a change where none of the domain's own servers answered: most resolvers agree, and what the others
// hold is one answer, with less time left than that of anyone else.
func changeAmong(answers []resolverAnswer) *change {
	given := which(answers, resolverAnswer.conclusive)
	var fresh, stale []resolverAnswer
	for _, answer := range given {
		if same := which(given, answer.same); len(same) > len(fresh) {
			fresh = same
		}
	}
	least, most := uint32(math.MaxUint32), uint32(0)
	for _, answer := range fresh {
		least, most = min(least, answer.left), max(most, answer.left)
	}
	found := &change{}
	for _, answer := range given {
		switch {
		case answer.Outcome != outcomeAnswer || answer.FilteredSuspected:
			return nil
		case answer.same(fresh[0]):
			continue
		case len(stale) > 0 && !answer.same(stale[0]), answer.left >= least, answer.left+leastUsed > most:
			return nil
		}
		stale = append(stale, answer)
		found.Resolvers = append(found.Resolvers, answer.ID)
		found.Seconds = max(found.Seconds, answer.left)
	}
	if len(stale) == 0 || len(stale) >= len(fresh) {
		return nil
	}
	return found
}

// answeredByPlace reports whether a domain may well give resolvers in different places different answers.
func (c query) answeredByPlace() bool {
	return c.recordType == "A" || c.recordType == "AAAA" || c.recordType == "CNAME"
}

// olderFor is for how long the resolver may hold its answer; ok is false where nothing says that it is an older one.
func (c query) olderFor(answer resolverAnswer, fresh []resolverAnswer, own *authority) (seconds uint32, ok bool) {
	if answer.FilteredSuspected {
		return 0, false
	}
	left := answer.left
	switch {
	case answer.Outcome != outcomeAnswer:
		return left, left > 0 && left+leastUsed <= answer.whole
	case own.TTL == nil: // for how long it might be kept at first is not known any more
		return left, left > 0
	}
	partUsed := left+leastUsed <= *own.TTL
	if !c.answeredByPlace() {
		// More than the whole time is that of records with another TTL, and so older as well.
		return left, partUsed || left > *own.TTL
	}
	for _, other := range fresh {
		partUsed = partUsed && left < other.left
	}
	return left, partUsed
}
