package ratelimit

import (
	"container/list"
	"slices"
	"sync"
	"time"
)

// maxDistinct is how many buckets of distinct values Memory holds: about 20 MB at the worst. Each takes a request that
// passed all other limits to make, so a client cannot make room for another twenty ports of an address by filling the
// store.
const maxDistinct = 1 << 15

// distinct are buckets of distinct values. When there is no room left, the bucket that was used least recently goes.
type distinct struct {
	mu   sync.Mutex
	room int
	byID map[id]*list.Element
	most int // that byID has held
	// used holds the same sets, the least recently used in front.
	used *list.List
}

func newDistinct(room int) *distinct {
	return &distinct{room: room, byID: map[id]*list.Element{}, used: list.New()}
}

// take judges one value at now, in microseconds.
func (s *distinct) take(key id, c Charge, now int64) Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear(now)
	at, held := s.byID[key]
	if !held {
		for len(s.byID) >= s.room {
			s.drop()
		}
		at = s.used.PushBack(&distinctSet{id: key})
		s.byID[key] = at
		s.most = max(s.most, len(s.byID))
	}
	s.used.MoveToBack(at)
	return at.Value.(*distinctSet).take(c, now)
}

// clear forgets sets whose values were all seen too long ago.
func (s *distinct) clear(now int64) {
	for range sweepAtMost {
		front := s.used.Front()
		if front == nil || !front.Value.(*distinctSet).past(now) {
			break
		}
		s.drop()
	}
	if fallen(len(s.byID), s.most) {
		s.byID, s.most = remade(s.byID), len(s.byID)
	}
}

func (s *distinct) drop() {
	front := s.used.Front()
	delete(s.byID, front.Value.(*distinctSet).id)
	s.used.Remove(front)
}

// distinctSet has the values of one bucket, each once, the one that was not seen for longest in front.
type distinctSet struct {
	id     id
	window int64
	values []seenValue
}

type seenValue struct {
	item uint16
	at   int64
}

func (s *distinctSet) past(now int64) bool {
	return len(s.values) == 0 || s.values[len(s.values)-1].at+s.window <= now
}

// take is distinctScript (redis.go).
func (s *distinctSet) take(c Charge, now int64) Decision {
	s.window = wholeMicros(c.Limit.Window)
	s.values = slices.DeleteFunc(s.values, func(t seenValue) bool { return t.at+s.window <= now })
	for i := range s.values {
		// The clock stepped back.
		s.values[i].at = min(s.values[i].at, now)
	}
	n := c.Limit.Requests
	seen := slices.IndexFunc(s.values, func(t seenValue) bool { return t.item == c.Item })
	if others := len(s.values); seen < 0 && others >= n {
		return Decision{
			Limit:      n,
			RetryAfter: time.Duration(s.values[others-n].at+s.window-now) * time.Microsecond,
			ResetAfter: time.Duration(s.values[others-1].at+s.window-now) * time.Microsecond,
		}
	}
	if seen >= 0 {
		s.values = slices.Delete(s.values, seen, seen+1)
	}
	s.values = append(s.values, seenValue{item: c.Item, at: now})
	return Decision{
		Allowed: true, Limit: n, Remaining: max(n-len(s.values), 0), ResetAfter: time.Duration(s.window) * time.Microsecond,
	}
}

// wholeMicros is a window of distinct values, which counts in whole microseconds, as the clocks of both stores do.
func wholeMicros(d time.Duration) int64 { return max(d.Microseconds(), 1) }
