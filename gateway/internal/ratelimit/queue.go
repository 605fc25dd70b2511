package ratelimit

import "container/heap"

// id stands for a bucket's key.
type id [2]uint64

// entry is one bucket in memory.
type entry struct {
	id     id
	bucket bucket
	// fullAt is when the bucket holds nothing back any more, in the microseconds of its at.
	fullAt int64
	place  int
}

// queue is a heap of entries, the one that is full again soonest in front.
type queue []*entry

func (q *queue) push(e *entry) { heap.Push((*byFullAt)(q), e) }
func (q *queue) pop() *entry   { return heap.Pop((*byFullAt)(q)).(*entry) }
func (q *queue) fix(e *entry)  { heap.Fix((*byFullAt)(q), e.place) }

type byFullAt queue

func (q byFullAt) Len() int           { return len(q) }
func (q byFullAt) Less(i, j int) bool { return q[i].fullAt < q[j].fullAt }
func (q byFullAt) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

func (q *byFullAt) Push(x any) {
	e := x.(*entry)
	e.place = len(*q)
	*q = append(*q, e)
}

func (q *byFullAt) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return e
}
