package icmp

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// An ICMP error without the cookie (see short) is accepted only in quiet times: while few errors came that matched
// nothing. A forger of such errors must guess, and each wrong guess is one of those.
//
// The odds. A raw socket sees every guess. One is right with a probability of 2^-41 or so: 15 bits of identifier for
// a host that saw the last 32,768 of them and 16 for all others, 16 of checksum, and 16 of sequence number, of
// which a job has at most 94 on their way. A destination's errors are accepted for 64 guesses and ten a second, so all
// that a forger can reach within the five seconds of a trace is 2^-34, however many packets it sends. The errors of all
// destinations together are accepted for 2,048 and 500 a second: a guesser at that pace at every job of a worker
// that is always busy is right once in some hundred years.
//
// A datagram socket is handed only what has its identifier, so that one guess in 65,536 arrives and is right with a
// probability of 2^-26; after two of them the flow accepts no more, sixteen and a further one each second for the whole
// family, which makes an hour's siege with millions of packets come out at 2^-14.
//
// A damaged echo reply without the cookie (exchange.Answer.Damaged) is accepted in quiet times as well. A forger must
// guess the identifier (16 bits) and the sequence number (16) of one of the at most 94 probes on their way: 2^-25 for a
// guess, of which a job of 15 seconds admits 214, and 2^-17 for the job. Even that gains no more than a probe that
// counts as neither received nor lost, until its real reply comes.
//
// Of UDP and TCP probes a raw socket sees every guess too, and only those count that name a probed destination: no
// others can be right. An error must guess the port (8 bits), the identification in the IPv4 header (16) and, for UDP,
// length (6) and checksum (16), for TCP the sequence number (32). With the 91 probes of a job that is 2^-39 for UDP,
// and less for TCP; a SYN-ACK or RST without the timestamp must guess port and number alone, 2^-33. They are accepted
// for 512 guesses and 50 a second in all: a guesser at that pace at every job of a worker that always traces with
// TCP is right once in some years.
//
// On the other side stand the honest errors that match nothing: answers that come after a flow was closed, and those to
// other programs of this host that ping. There are a few dozen of them for a job at most.
const (
	destinationLimit, destinationPace = 64, 100 * time.Millisecond
	rawLimit, rawPace                 = 2048, 2 * time.Millisecond
	datagramLimit, datagramPace       = 2, 10 * time.Second
	datagramsLimit, datagramsPace     = 16, time.Second
)

// suspicion is how many unmatched errors came of late: a level that each raises by one and that sinks by one in every
// pace. It is safe for concurrent use.
type suspicion struct {
	limit int64
	pace  time.Duration
	// gone is when the level will be 0, on the clock of this package.
	gone atomic.Int64
}

func newSuspicion(limit int64, pace time.Duration) *suspicion {
	return &suspicion{limit: limit, pace: pace}
}

// suffices reports whether an answer with this proof is accepted, given the recent forgeries about its flow and about
// all flows.
func (p proof) suffices(now time.Time, own, all *suspicion) bool {
	return p == proved || p == short && own.quiet(now) && all.quiet(now)
}

// started is where the clock of suspicions begins: theirs is the monotonic one.
var started = time.Now()

// note raises the level. It never goes far beyond the limit, so that quiet comes back a while after the last forged
// error, however many there were.
func (s *suspicion) note(now time.Time) {
	at, pace := int64(now.Sub(started)), int64(s.pace)
	for {
		old := s.gone.Load()
		level := min(max(old-at, 0)+pace, 2*s.limit*pace)
		if s.gone.CompareAndSwap(old, at+level) {
			return
		}
	}
}

// quiet reports whether the level is below the limit.
func (s *suspicion) quiet(now time.Time) bool {
	return s.gone.Load()-int64(now.Sub(started)) < s.limit*int64(s.pace)
}

// suspects keeps the suspicions about the errors to the live flows of one kind.
type suspects struct {
	// forged is about the errors of all destinations.
	forged *suspicion

	mu           sync.RWMutex
	destinations map[netip.Addr]*destination
}

// destination is what the live flows to one address share.
type destination struct {
	flows  int // guarded by mu of suspects
	forged *suspicion
}

func newSuspects(limit int64, pace time.Duration) suspects {
	return suspects{forged: newSuspicion(limit, pace), destinations: map[netip.Addr]*destination{}}
}

// enter returns the suspicion about a destination to one more flow.
func (s *suspects) enter(dst netip.Addr) *suspicion {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.destinations[dst]
	if d == nil {
		d = &destination{forged: newSuspicion(destinationLimit, destinationPace)}
		s.destinations[dst] = d
	}
	d.flows++
	return d.forged
}

// leave is that a flow to a destination has ended.
func (s *suspects) leave(dst netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.destinations[dst]
	if d.flows--; d.flows == 0 {
		delete(s.destinations, dst)
	}
}

// of returns the suspicion about a destination; nil where no live flow aims at it.
func (s *suspects) of(dst netip.Addr) *suspicion {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if d := s.destinations[dst]; d != nil {
		return d.forged
	}
	return nil
}
