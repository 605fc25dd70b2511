package workerapi

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Texts that a worker may send with a result are short sentences; Raw alone is bounded by MaxResponseBytes only.
const (
	maxNoteRunes        = 500
	maxExplanationRunes = 2000
	maxExplanations     = 50
	// An ICMP extension of labels cannot hold more (RFC 4884 leaves it some 1,500 bytes at most; routers push a few).
	maxLabels = 64
)

// ErrContract is what every Validate error wraps: the answer is well-formed JSON and yet not what was promised.
var ErrContract = errors.New("answer breaks the worker contract")

// Validate returns an error unless the trace is of the requested address and its fields are valid. It does not check
// whether hops are public. The error wraps ErrContract and names the field; it is for a log, not for a client.
func (t Traceroute) Validate(asked netip.Addr) error {
	if err := validTarget(t.Target, t.Address, t.Family, asked); err != nil {
		return err
	}
	if !slices.Contains([]string{StopReached, StopMaxHops, StopUnreachable, StopProhibited, StopDeadline, StopGapLimit},
		t.StopReason) {
		return breach("stopReason %q is unknown", t.StopReason)
	}
	if t.StopReason == StopReached && !t.Reached {
		return breach("stopReason is reached, but reached is false")
	}
	if t.Hops == nil {
		return breach("hops is null")
	}
	last := 0
	for i, h := range t.Hops {
		if i == 0 && h.TTL != 1 || h.TTL <= last || h.TTL > MaxHops {
			return breach("hops[%d].ttl is %d after %d", i, h.TTL, last)
		}
		last = h.TTL
		if err := h.Validate(asked); err != nil {
			return fmt.Errorf("hops[%d]: %w", i, err)
		}
	}
	return cmp.Or(t.validMoment(), validExplanation(t.Explanation), t.MTU.validate())
}

// validate takes nil, which is that it was not requested.
func (m *MTU) validate() error {
	inRange := func(size int) bool { return size >= MinMTU && size <= MaxMTU }
	switch {
	case m == nil:
		return nil
	case m.Path != nil && !inRange(*m.Path):
		return breach("mtu.path is %d", *m.Path)
	case m.LimitedAt != nil && (*m.LimitedAt < 1 || *m.LimitedAt > MaxHops):
		return breach("mtu.limitedAt is %d", *m.LimitedAt)
	case m.HopMTUs == nil:
		return breach("mtu.hopMtus is null")
	case m.Note != nil && !plainText(*m.Note, maxNoteRunes):
		return breach("mtu.note is not a short plain text")
	}
	last := 0
	for i, h := range m.HopMTUs {
		if h.TTL <= last || h.TTL > MaxHops || !inRange(h.MTU) {
			return breach("mtu.hopMtus[%d] is %+v after hop %d", i, h, last)
		}
		last = h.TTL
	}
	return nil
}

// Validate returns an error unless the fields of the hop are valid. The error wraps ErrContract.
func (h Hop) Validate(asked netip.Addr) error {
	if h.TTL < 1 || h.TTL > MaxHops {
		return breach("ttl is %d", h.TTL)
	}
	if h.Address != nil {
		if err := validHopAddress(*h.Address, asked); err != nil {
			return err
		}
	}
	if h.Addresses == nil {
		return breach("addresses is null")
	}
	for _, a := range h.Addresses {
		if err := validHopAddress(a, asked); err != nil {
			return err
		}
	}
	if err := validCounts(h.Sent, h.Received, h.LossPercent); err != nil {
		return err
	}
	if h.RTTsMs == nil || len(h.RTTsMs) != h.Sent {
		return breach("rttsMs has %d entries for %d probes", len(h.RTTsMs), h.Sent)
	}
	answered := 0
	for _, rtt := range h.RTTsMs {
		if rtt != nil {
			answered++
		}
	}
	if answered != h.Received {
		return breach("rttsMs has %d times for %d answers", answered, h.Received)
	}
	if err := validTimes(append(slices.Clone(h.RTTsMs), h.BestMs, h.AverageMs, h.WorstMs)...); err != nil {
		return err
	}
	if h.Note != nil && !plainText(*h.Note, maxNoteRunes) {
		return breach("note is not a short plain text")
	}
	return validLabels(h.Labels)
}

func validLabels(labels []Label) error {
	if len(labels) > maxLabels {
		return breach("labels has %d entries", len(labels))
	}
	for i, l := range labels {
		if l.Label < 0 || l.Label >= 1<<20 || l.TC < 0 || l.TC > 7 || l.TTL < 0 || l.TTL > math.MaxUint8 {
			return breach("labels[%d] is %+v", i, l)
		}
	}
	return nil
}

// Validate is Traceroute.Validate for a ping.
func (p Ping) Validate(asked netip.Addr) error { return p.validate(asked, PingProbes) }

func (p Ping) validate(asked netip.Addr, probes int) error {
	if err := validTarget(p.Target, p.Address, p.Family, asked); err != nil {
		return err
	}
	if !slices.Contains([]string{StopCompleted, StopUnreachable, StopProhibited, StopDeadline}, p.StopReason) {
		return breach("stopReason %q is unknown", p.StopReason)
	}
	if p.Sent > probes {
		return breach("sent is %d of %d probes", p.Sent, probes)
	}
	if err := validCounts(p.Sent, p.Received, p.LossPercent); err != nil {
		return err
	}
	if p.Duplicates < 0 {
		return breach("duplicates is %d", p.Duplicates)
	}
	if p.Undecided < 0 || p.Undecided > p.Sent-p.Received {
		return breach("undecided is %d of %d without a reply", p.Undecided, p.Sent-p.Received)
	}
	if p.Damaged < 0 || p.Damaged > p.Sent-p.Received-p.Undecided {
		return breach("damaged is %d of %d without a reply", p.Damaged, p.Sent-p.Received-p.Undecided)
	}
	return cmp.Or(p.validMoment(), p.Confirmation.validate(),
		validTimes(p.MinMs, p.AverageMs, p.MedianMs, p.MaxMs, p.StddevMs, p.JitterMs), p.validReplies())
}

// validate takes nil, which is that there was none.
func (c *Confirmation) validate() error {
	switch {
	case c == nil:
		return nil
	case c.Sent < 1 || c.Sent > ConfirmationProbes:
		return breach("confirmation.sent is %d", c.Sent)
	case math.IsNaN(c.IntervalMs) || c.IntervalMs <= 0 || c.IntervalMs > float64(JobLimit/time.Millisecond):
		return breach("confirmation.intervalMs is %v", c.IntervalMs)
	}
	return validCounts(c.Sent, c.Received, c.LossPercent)
}

// validMoment takes the zero time, which is that of an older worker, and else a year that can be written in any
// time zone.
func (m Measurement) validMoment() error {
	if y := m.MeasuredAt.Year(); !m.MeasuredAt.IsZero() && (y < 2000 || y > 9998) {
		return breach("measuredAt is in the year %d", y)
	}
	return nil
}

// Validate returns an error unless the fields of the reply are valid. The error wraps ErrContract.
func (r Reply) Validate() error {
	if r.Seq < 0 || r.Seq > LossProbes {
		return breach("seq is %d", r.Seq)
	}
	if r.TTL != nil && (*r.TTL < 0 || *r.TTL > math.MaxUint8) {
		return breach("ttl is %d", *r.TTL)
	}
	if err := validTimes(r.RTTMs); err != nil {
		return err
	}
	if r.RTTMs != nil && (r.Undecided || r.Damaged) || r.RTTMs == nil && r.Late || r.Undecided && r.Damaged {
		return breach("a reply is both there and not")
	}
	return nil
}

func (p Ping) validReplies() error {
	if p.Replies == nil {
		return breach("replies is null")
	}
	if len(p.Replies) > p.Sent {
		return breach("replies has %d entries for %d probes", len(p.Replies), p.Sent)
	}
	answered, late, undecided, damaged, last := 0, 0, 0, 0, -1
	for i, r := range p.Replies {
		if r.Seq <= last {
			return breach("replies[%d].seq is %d after %d", i, r.Seq, last)
		}
		last = r.Seq
		if err := r.Validate(); err != nil {
			return fmt.Errorf("replies[%d]: %w", i, err)
		}
		switch {
		case r.RTTMs != nil:
			answered++
		case r.Undecided:
			undecided++
		case r.Damaged:
			damaged++
		}
		if r.Late {
			late++
		}
	}
	switch {
	case answered > p.Received:
		return breach("replies has %d times for %d answers", answered, p.Received)
	case p.Late < late || p.Late > late+p.Received-answered:
		return breach("late is %d, but %d replies are", p.Late, late)
	case undecided > p.Undecided:
		return breach("undecided is %d, but %d replies are", p.Undecided, undecided)
	case damaged > p.Damaged:
		return breach("damaged is %d, but %d replies are", p.Damaged, damaged)
	}
	return nil
}

// Validate is Traceroute.Validate for a measurement of packet loss.
func (p PacketLoss) Validate(asked netip.Addr) error {
	if err := p.validate(asked, LossProbes); err != nil {
		return err
	}
	if p.Bursts == nil {
		return breach("bursts is null")
	}
	lost, next := 0, 0
	for i, b := range p.Bursts {
		// Sequence numbers may start at 0 or 1, so the last one is at most sent.
		if b.StartSeq < next || b.StartSeq > p.Sent || b.Length < 1 || b.Length > p.Sent+1-b.StartSeq {
			return breach("bursts[%d] is %d probes from %d", i, b.Length, b.StartSeq)
		}
		next = b.StartSeq + b.Length
		lost += b.Length
	}
	if most := p.Sent - p.Received - p.Undecided - p.Damaged; lost > most {
		return breach("bursts hold %d probes, but %d were lost", lost, most)
	}
	return nil
}

// Validate returns an error unless the worker takes jobs, for families that it names.
func (r Ready) Validate() error {
	if r.Status != StatusReady {
		return breach("status is %q", r.Status)
	}
	if len(r.Families) == 0 {
		return breach("families is empty")
	}
	for _, f := range r.Families {
		if f != 4 && f != 6 {
			return breach("families holds %d", f)
		}
	}
	return nil
}

// The values of Ready.Status.
const (
	StatusReady    = "ready"
	StatusDraining = "draining"
)

func breach(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrContract, fmt.Sprintf(format, args...))
}

func validTarget(target, address string, family int, asked netip.Addr) error {
	for _, s := range []string{target, address} {
		if a, err := netip.ParseAddr(s); err != nil || a != asked {
			return breach("%q was answered for %s", s, asked)
		}
	}
	if family != Family(asked) {
		return breach("family is %d for %s", family, asked)
	}
	return nil
}

// Family is 4 or 6.
func Family(a netip.Addr) int {
	if a.Is4() {
		return 4
	}
	return 6
}

// FamilyName is IPv4 or IPv6.
func FamilyName(a netip.Addr) string {
	if a.Is4() {
		return "IPv4"
	}
	return "IPv6"
}

// validHopAddress requires the family of the trace: a router answers in the protocol of the probe.
func validHopAddress(s string, asked netip.Addr) error {
	a, err := netip.ParseAddr(s)
	if err != nil || a.Is4In6() || a.Zone() != "" {
		return breach("%q is not an address", s)
	}
	if a.Is4() != asked.Is4() {
		return breach("%q is of another family than the trace", s)
	}
	return nil
}

func validCounts(sent, received int, lossPercent float64) error {
	if sent < 0 || received < 0 || received > sent {
		return breach("received %d of %d", received, sent)
	}
	if math.IsNaN(lossPercent) || lossPercent < 0 || lossPercent > 100 {
		return breach("lossPercent is %v", lossPercent)
	}
	return nil
}

// validTimes demands times that fit into a job.
func validTimes(times ...*float64) error {
	const most = float64(JobLimit / time.Millisecond)
	for _, t := range times {
		if t != nil && (math.IsNaN(*t) || *t < 0 || *t > most) {
			return breach("a time is %v ms", *t)
		}
	}
	return nil
}

func validExplanation(lines []string) error {
	if lines == nil {
		return breach("explanation is null")
	}
	if len(lines) > maxExplanations {
		return breach("explanation has %d sentences", len(lines))
	}
	for i, line := range lines {
		if !plainText(line, maxExplanationRunes) {
			return breach("explanation[%d] is not a short plain text", i)
		}
	}
	return nil
}

func plainText(s string, most int) bool {
	return utf8.RuneCountInString(s) <= most && !strings.ContainsFunc(s, unicode.IsControl)
}
