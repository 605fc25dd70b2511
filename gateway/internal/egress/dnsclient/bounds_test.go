package dnsclient

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"

	"diagnostics/gateway/internal/egress/budget/memory"

	"github.com/miekg/dns"
)

func answerOf(records ...dns.RR) Answer {
	m := &dns.Msg{Answer: records}
	return readAnswer(m, question{name: "example.com.", qtype: records[0].Header().Rrtype})
}

func named(n int, last string) []dns.RR {
	var records []dns.RR
	for i := range n {
		target := fmt.Sprintf("n%05d.%s.", i, strings.Repeat("x", 60))
		if i == n-1 {
			target = last
		}
		records = append(records, &dns.NS{Hdr: dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeNS, Class: dns.ClassINET,
			Rdlength: 1}, Ns: target})
	}
	return records
}

func TestLongAnswersAreCut(t *testing.T) {
	t.Parallel()
	each := recordWeight(named(2, "z.")[0])
	fits := maxRecordBytes / each
	if a := answerOf(named(fits, "z.")...); a.Cut || len(a.Records) != fits || a.Digest != [32]byte{} {
		t.Errorf("%d records: %d are left, cut %t", fits, len(a.Records), a.Cut)
	}
	long := answerOf(named(2*fits, "zz.")...)
	if !long.Cut || len(long.Records) > fits || len(long.Records) < fits-1 || long.Digest == [32]byte{} {
		t.Errorf("%d records: %d are left, cut %t", 2*fits, len(long.Records), long.Cut)
	}
	turned := named(2*fits, "ZZ.")
	rand.Shuffle(len(turned), func(i, j int) { turned[i], turned[j] = turned[j], turned[i] })
	turned[0].Header().Ttl = 7
	if same := answerOf(turned...); same.Digest != long.Digest ||
		same.Records[0].(*dns.NS).Ns != long.Records[0].(*dns.NS).Ns {
		t.Error("the same set in another order is another answer")
	}
	if other := answerOf(named(2*fits, "zy.")...); other.Digest == long.Digest {
		t.Error("a difference beyond what is kept is not reported")
	}
}

// Whether a name is refused depends on each of its addresses.
func TestAddressesAreNotCut(t *testing.T) {
	t.Parallel()
	var records []dns.RR
	for i := range 4000 {
		records = append(records, &dns.A{Hdr: dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeA,
			Class: dns.ClassINET, Rdlength: 4}, A: []byte{93, 184, byte(i >> 8), byte(i)}})
	}
	if a := answerOf(records...); a.Cut || len(a.Records) != 4000 {
		t.Errorf("%d are left, cut %t", len(a.Records), a.Cut)
	}
}

func TestOfALongAuthorityTheFirstAreKept(t *testing.T) {
	t.Parallel()
	m := &dns.Msg{Ns: named(100, "z.")}
	if a := readAnswer(m, question{name: "example.com.", qtype: dns.TypeA}); len(a.Authority) != maxAuthority {
		t.Errorf("%d records", len(a.Authority))
	}
}

// A long message waits for a slot to be read in, and a short one does not.
func TestLongMessagesAreReadAFewAtATime(t *testing.T) {
	t.Parallel()
	query := new(dns.Msg).SetQuestion("example.com.", dns.TypeNS)
	pack := func(records int) []byte {
		m := new(dns.Msg).SetReply(query)
		m.Answer = named(records, "z.")
		packet, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		return packet
	}
	a := attempt{reading: make(memory.Semaphore, 1), question: question{name: "example.com.", qtype: dns.TypeNS}}
	long, short := pack(200), pack(2)
	if ok, err := a.read(t.Context(), long, query, func(*dns.Msg) {}); !ok || err != nil || len(a.reading) != 0 {
		t.Errorf("with a free slot: %t, %v, and %d are taken after it", ok, err, len(a.reading))
	}
	a.reading <- struct{}{}
	gone, leave := context.WithCancel(t.Context())
	leave()
	ok, err := a.read(gone, long, query, func(*dns.Msg) {})
	if ok || !errors.Is(err, context.Canceled) || fault.Is(err, fault.Busy) {
		t.Errorf("without a slot: %t, %v", ok, err)
	}
	// That all slots were taken until the time was over says nothing of the name servers.
	late, end := context.WithDeadline(t.Context(), time.Now())
	defer end()
	if ok, err := a.read(late, long, query, func(*dns.Msg) {}); ok || !fault.Is(err, fault.Busy) || fault.IsTimeout(err) {
		t.Errorf("without a slot in time: %t, %v", ok, err)
	}
	if ok, err := a.read(gone, short, query, func(*dns.Msg) {}); !ok || err != nil {
		t.Errorf("a short one: %t, %v", ok, err)
	}
}

// A long message that is no answer is known by its header, and takes no slot from those that are.
func TestLongMessagesThatAreNoAnswersTakeNoSlot(t *testing.T) {
	t.Parallel()
	query := new(dns.Msg).SetQuestion("example.com.", dns.TypeNS)
	whole := new(dns.Msg).SetReply(query)
	whole.Answer = named(200, "z.")
	packet, err := whole.Pack()
	if err != nil {
		t.Fatal(err)
	}
	most := (len(packet) - 12 - 5) / 11
	for name, test := range map[string]struct {
		change    func(packet []byte)
		malformed bool
	}{
		"another id":         {func(p []byte) { p[0] ^= 1 }, false},
		"a query":            {func(p []byte) { p[2] &^= 1 << 7 }, false},
		"another opcode":     {func(p []byte) { p[2] |= 1 << 3 }, false},
		"too many answers":   {func(p []byte) { binary.BigEndian.PutUint16(p[6:], uint16(most+1)) }, true},
		"too many in all":    {func(p []byte) { binary.BigEndian.PutUint16(p[10:], uint16(most+1-200)) }, true},
		"too many questions": {func(p []byte) { binary.BigEndian.PutUint16(p[4:], 65535) }, true},
	} {
		changed := slices.Clone(packet)
		test.change(changed)
		a := attempt{question: question{name: "example.com.", qtype: dns.TypeNS}} // without any slot
		late, end := context.WithDeadline(t.Context(), time.Now())
		ok, err := a.read(late, changed, query, func(*dns.Msg) {})
		end()
		if ok || errors.Is(err, errMalformed) != test.malformed || !test.malformed && err != nil {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
	for name, change := range map[string]func(){
		"its own counts": func() {},
		"as many as fit": func() { binary.BigEndian.PutUint16(packet[6:], uint16(most)) },
	} {
		change()
		a := attempt{reading: make(memory.Semaphore, 1), question: question{name: "example.com.", qtype: dns.TypeNS}}
		if ok, err := a.read(t.Context(), packet, query, func(*dns.Msg) {}); !ok || err != nil {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
}
