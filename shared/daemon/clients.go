package daemon

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// silence is how long a connection may be without a request once the listener is closed. net/http itself would count it
// as a request in flight for five seconds: browsers connect ahead and send nothing.
const silence = time.Second

// clients are the open connections of a server. The zero value has none.
type clients struct {
	open atomic.Int64
	// silent are those that have not sent a request yet.
	silent sync.Map
}

// watch hooks into the server's ConnState, and calls the existing hook as well.
func (c *clients) watch(s *http.Server) {
	also := s.ConnState
	s.ConnState = func(conn net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			c.open.Add(1)
			c.silent.Store(conn, nil)
		case http.StateIdle: // which only follows a request
		case http.StateClosed, http.StateHijacked:
			c.open.Add(-1)
			fallthrough
		default:
			c.silent.Delete(conn)
		}
		if also != nil {
			also(conn, state)
		}
	}
}

// settleLook is the time between two checks whether all have sent a request.
const settleLook = 5 * time.Millisecond

// settle waits until each has sent its request or gone, and closes those that have done neither by the end.
func (c *clients) settle(end time.Time) {
	for c.anySilent() && time.Now().Before(end) {
		time.Sleep(settleLook)
	}
	for conn := range c.silent.Range {
		_ = conn.(net.Conn).Close()
	}
}

func (c *clients) anySilent() bool {
	for range c.silent.Range {
		return true
	}
	return false
}
