package ratelimit

import (
	"container/list"
	"slices"
	"sync"
	"time"
)

// maxSightings is how many buckets of different things Memory holds: about 20 MB at the worst. Each takes a request
// that passed all other limits to make, so a client cannot make room for another twenty ports of an address by filling
// the store.
const maxSightings = 1 << 15

// sightings are buckets of different things. When there is no room left, the bucket that was used least recently goes.
type sightings struct {
	mu   sync.Mutex
	room int
	byID map[id]*list.Element
	most int // that byID has held
	// used holds the same sets, the least recently used in front.
	used *list.List
}

func newSightings(room int) *sightings {
	return &sightings{room: room, byID: map[id]*list.Element{}, used: list.New()}
}

// take judges one thing at now, in microseconds.
func (s *sightings) take(key id, c Charge, now int64) Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear(now)
	at, held := s.byID[key]
	if !held {
		for len(s.byID) >= s.room {
			s.drop()
		}
		at = s.used.PushBack(&sightingSet{id: key})
		s.byID[key] = at
		s.most = max(s.most, len(s.byID))
	}
	s.used.MoveToBack(at)
	return at.Value.(*sightingSet).take(c, now)
}

// clear forgets sets whose things were all seen too long ago.
func (s *sightings) clear(now int64) {
	for range sweepAtMost {
		front := s.used.Front()
		if front == nil || !front.Value.(*sightingSet).past(now) {
			break
		}
		s.drop()
	}
	if fallen(len(s.byID), s.most) {
		s.byID, s.most = remade(s.byID), len(s.byID)
	}
}

func (s *sightings) drop() {
	front := s.used.Front()
	delete(s.byID, front.Value.(*sightingSet).id)
	s.used.Remove(front)
}

// sightingSet are the things of one bucket, each once, the one that was not seen for longest in front.
type sightingSet struct {
	id     id
	window int64
	things []sighting
}

type sighting struct {
	item uint16
	at   int64
}

func (s *sightingSet) past(now int64) bool {
	return len(s.things) == 0 || s.things[len(s.things)-1].at+s.window <= now
}

// take is the script of sightings_redis.go.
func (s *sightingSet) take(c Charge, now int64) Decision {
	s.window = wholeMicros(c.Limit.Window)
	s.things = slices.DeleteFunc(s.things, func(t sighting) bool { return t.at+s.window <= now })
	for i := range s.things {
		// The clock stepped back.
		s.things[i].at = min(s.things[i].at, now)
	}
	n := c.Limit.Requests
	seen := slices.IndexFunc(s.things, func(t sighting) bool { return t.item == c.Item })
	if others := len(s.things); seen < 0 && others >= n {
		return Decision{
			Limit:      n,
			RetryAfter: time.Duration(s.things[others-n].at+s.window-now) * time.Microsecond,
			ResetAfter: time.Duration(s.things[others-1].at+s.window-now) * time.Microsecond,
		}
	}
	if seen >= 0 {
		s.things = slices.Delete(s.things, seen, seen+1)
	}
	s.things = append(s.things, sighting{item: c.Item, at: now})
	return Decision{
		Allowed: true, Limit: n, Remaining: max(n-len(s.things), 0), ResetAfter: time.Duration(s.window) * time.Microsecond,
	}
}

// wholeMicros is a window of different things, which counts in whole microseconds, as the clocks of both stores do.
func wholeMicros(d time.Duration) int64 { return max(d.Microseconds(), 1) }
