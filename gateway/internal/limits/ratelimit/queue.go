package ratelimit

import (
	"container/heap"
	"slices"
)

// id stands for a bucket's key.
type id [2]uint64

// entry is one bucket in memory.
type entry struct {
	id     id
	bucket bucket
	// fullAt is when the bucket holds nothing back any more, in the microseconds of its at.
	fullAt int64
	// place is where its number stands in the order.
	place int
}

// queue is a heap of entries, the one that is full again soonest in front. Entries are numbered, not pointed at: the
// garbage collector would otherwise walk every bucket again and again.
type queue struct {
	entries []entry
	order   []int
}

// first is the entry in front, if there is one.
func (q *queue) first() (entry, bool) {
	if len(q.order) == 0 {
		return entry{}, false
	}
	return q.entries[q.order[0]], true
}

// push adds an entry and gives its number, which holds until the next pop.
func (q *queue) push(e entry) int {
	n := len(q.entries)
	q.entries = append(q.entries, e)
	heap.Push((*byFullAt)(q), n)
	return n
}

// pop takes the first entry out. The last one is given its number, to leave no gap; moved tells which that is.
func (q *queue) pop() (first entry, n int, moved *entry) {
	n = heap.Pop((*byFullAt)(q)).(int)
	first = q.entries[n]
	last := len(q.entries) - 1
	if n != last {
		moved = &q.entries[n]
		*moved = q.entries[last]
		q.order[moved.place] = n
	}
	q.entries = q.entries[:last]
	return first, n, moved
}

// fix restores the order after an entry's fullAt was changed.
func (q *queue) fix(n int) { heap.Fix((*byFullAt)(q), q.entries[n].place) }

// shrink gives back the room of what has gone.
func (q *queue) shrink() {
	q.entries, q.order = slices.Clone(q.entries), slices.Clone(q.order)
}

type byFullAt queue

func (q *byFullAt) Len() int { return len(q.order) }
func (q *byFullAt) Less(i, j int) bool {
	return q.entries[q.order[i]].fullAt < q.entries[q.order[j]].fullAt
}

func (q *byFullAt) Swap(i, j int) {
	q.order[i], q.order[j] = q.order[j], q.order[i]
	q.entries[q.order[i]].place, q.entries[q.order[j]].place = i, j
}

func (q *byFullAt) Push(x any) {
	n := x.(int)
	q.entries[n].place = len(q.order)
	q.order = append(q.order, n)
}

func (q *byFullAt) Pop() any {
	last := len(q.order) - 1
	n := q.order[last]
	q.order = q.order[:last]
	return n
}
