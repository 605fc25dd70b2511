package ratelimit

// id stands for a bucket's key.
type id [2]uint64

// entry is one bucket in memory.
type entry struct {
	id     id
	bucket bucket
	// fullAt is when the bucket holds nothing back any more, in the microseconds of its at.
	fullAt int64
	// place is where it stands in the queue.
	place int
}

// queue is a heap.Interface of entries, the one that is full again soonest in front.
type queue []*entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].fullAt < q[j].fullAt }

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

func (q *queue) Push(x any) {
	e := x.(*entry)
	e.place = len(*q)
	*q = append(*q, e)
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return e
}
