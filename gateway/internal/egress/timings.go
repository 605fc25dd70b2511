package egress

import (
	"sync"
	"time"
)

// Timings are the phases of one round trip. Connect, TLS and FirstByte are each the phase's own length.
type Timings struct {
	DNS, Connect time.Duration
	TLS          time.Duration // 0 and HasTLS false over plain HTTP
	HasTLS       bool
	FirstByte    time.Duration // from the request written to the first byte of the answer
	Body         time.Duration // spent on the body, 0 where it is not read
	Total        time.Duration // from the start to the end of the headers, or of the body where it is read
}

// clock collects the phases. Connect and TLS are those of the connection that carried the round trip: a slower or
// failed attempt shows in Total alone.
type clock struct {
	began time.Time
	dns   time.Duration

	mu               sync.Mutex
	connect, tls     time.Duration
	written, answers time.Time
}

// wrote notes that the request is written. It may still be called after the round trip has failed, as may answered.
func (c *clock) wrote() {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = now
}

// answered notes the first byte of the answer.
func (c *clock) answered() {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = now
}

func (c *clock) connected(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connect = took
}

func (c *clock) shook(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tls = took
}

// timings ends the measurement.
func (c *clock) timings(hasTLS bool) Timings {
	total := time.Since(c.began)
	c.mu.Lock()
	defer c.mu.Unlock()
	t := Timings{DNS: c.dns, Connect: c.connect, TLS: c.tls, HasTLS: hasTLS, Total: total}
	// A server may answer before it has read the whole request.
	if !c.written.IsZero() && c.answers.After(c.written) {
		t.FirstByte = c.answers.Sub(c.written)
	}
	return t
}
