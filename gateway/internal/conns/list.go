package conns

// order is one of the orders that a connection stands in.
type order int

const (
	byState order = iota // among all that wait, or that answer
	byPeer               // among those of one peer that wait
	byPart               // among those that have a part of a request
	orders
)

// connList is connections in the order in which they came, which takes no memory of its own: each request moves its
// connection several times. A connection is in one list of an order at most.
type connList struct {
	order       order
	first, last *Conn
}

// links are the neighbours of a connection in a list.
type links struct{ before, after *Conn }

func (l *connList) push(c *Conn) {
	c.links[l.order] = links{before: l.last}
	if l.last == nil {
		l.first = c
	} else {
		l.last.links[l.order].after = c
	}
	l.last = c
}

// remove takes out a connection that is in the list.
func (l *connList) remove(c *Conn) {
	at := c.links[l.order]
	if at.before == nil {
		l.first = at.after
	} else {
		at.before.links[l.order].after = at.after
	}
	if at.after == nil {
		l.last = at.before
	} else {
		at.after.links[l.order].before = at.before
	}
	c.links[l.order] = links{}
}
