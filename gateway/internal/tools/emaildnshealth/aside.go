package emaildnshealth

import (
	"time"

	"diagnostics/gateway/internal/traffic"
)

// What a run asks beside the records that it judges (a search for DKIM keys, the TLSA records and reverse names of the
// mail hosts, BIMI) has bounds of its own, each for itself: none of it may keep a record of the domain from being
// looked up, or wait behind a reverse zone that is dead.
const (
	asideSlots = maxMailConcurrent / 2
	asideBytes = 192 << 10
	// asideSpare is how much of what a run may send is left to the records.
	asideSpare = traffic.MaxSent / 2
	asideTime  = 5 * time.Second
	// maxAside is how many questions that are, all together.
	maxAside = searchQueries + keyQueries + nameQueries + bimiQueries
)

// aside is a resolver for so many questions that shares nothing with this one but the client.
func (r *resolver) aside(questions int) *resolver {
	a := newResolver(r.client)
	a.slots = make(chan struct{}, asideSlots)
	a.left, a.room, a.spare = questions, asideBytes, asideSpare
	a.news, a.own = r.news, r.own
	return a
}
