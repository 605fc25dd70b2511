package main

import (
	"net"
	"sync/atomic"
	"time"

	"diagnostics/lab"
)

// arrivals is the ICMP of IPv4 that comes to the service's host, for any process.
type arrivals struct {
	conn net.PacketConn
	last atomic.Int64 // when the last one came, in nanoseconds since start; 0 for none
	// start is what last counts from.
	start time.Time
	done  chan struct{}
}

func (b *bench) listenForArrivals() (*arrivals, error) {
	conn, err := b.lab.ListenPacket(lab.ServiceHost, "ip4:icmp", "0.0.0.0")
	if err != nil {
		return nil, err
	}
	a := &arrivals{conn: conn, start: time.Now(), done: make(chan struct{})}
	go a.listen()
	return a, nil
}

func (a *arrivals) listen() {
	defer close(a.done)
	buf := make([]byte, 1500)
	for {
		if _, _, err := a.conn.ReadFrom(buf); err != nil {
			return
		}
		a.last.Store(int64(time.Since(a.start)))
	}
}

// after is how long after a moment the last one came; 0 where none did.
func (a *arrivals) after(moment time.Time) time.Duration {
	return max(a.start.Add(time.Duration(a.last.Load())).Sub(moment), 0)
}

func (a *arrivals) close() {
	a.conn.Close()
	<-a.done
}
