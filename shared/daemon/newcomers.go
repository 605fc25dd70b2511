package daemon

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// silence is how long a connection may be without a request once the listener is closed. net/http itself would take it
// for a request in flight for five seconds: browsers connect ahead and say nothing.
const silence = time.Second

// newcomers are the connections that have not sent a request yet. The zero value has none.
type newcomers struct{ conns sync.Map }

// watch has the server tell of its connections, beside whom it tells already.
func (n *newcomers) watch(s *http.Server) {
	also := s.ConnState
	s.ConnState = func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			n.conns.Store(c, nil)
		case http.StateIdle: // which only follows a request
		default:
			n.conns.Delete(c)
		}
		if also != nil {
			also(c, state)
		}
	}
}

// settleLook is how often is looked whether all have spoken.
const settleLook = 5 * time.Millisecond

// settle waits until each has sent its request or gone, and closes those that have done neither by then.
func (n *newcomers) settle(patience time.Duration) {
	for end := time.Now().Add(patience); n.any() && time.Now().Before(end); {
		time.Sleep(settleLook)
	}
	for c := range n.conns.Range {
		_ = c.(net.Conn).Close()
	}
}

func (n *newcomers) any() bool {
	for range n.conns.Range {
		return true
	}
	return false
}
