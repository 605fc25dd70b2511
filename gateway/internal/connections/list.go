package connections

// order is one of the orders that a connection stands in.
type order int

const (
	byState order = iota // among all that wait, or that answer
	byPeer               // among those of one peer that wait
	byPart               // among those that have a part of a request
	orders
)

// line is connections in the order in which they came, which takes no memory of its own: each request moves its
// connection several times. A connection is in one line of an order at most.
type line struct {
	order       order
	first, last *Conn
	length      int
}

// place is where a connection stands in a line.
type place struct{ before, after *Conn }

func (l *line) push(c *Conn) {
	c.places[l.order] = place{before: l.last}
	if l.last == nil {
		l.first = c
	} else {
		l.last.places[l.order].after = c
	}
	l.last = c
	l.length++
}

// remove takes out a connection that is in the line.
func (l *line) remove(c *Conn) {
	at := c.places[l.order]
	if at.before == nil {
		l.first = at.after
	} else {
		at.before.places[l.order].after = at.after
	}
	if at.after == nil {
		l.last = at.before
	} else {
		at.after.places[l.order].before = at.before
	}
	c.places[l.order] = place{}
	l.length--
}
