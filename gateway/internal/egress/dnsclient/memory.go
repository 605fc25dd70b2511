package dnsclient

import (
	"context"
	"encoding/binary"
	"errors"

	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/shortage"

	"github.com/miekg/dns"
)

// A message of 64 KiB is megabytes once it is unpacked: names are compressed on the wire, and escaped once they are
// read. So long messages are read a few at a time, each until what is too much of it was cut, and what is left is
// counted for every run that requested it.

const (
	// longMessage is what no server sends over UDP.
	longMessage = readSize
	// copySize is about what a record takes whose names and texts are another's too.
	copySize = 96
	// largeAnswer is the weight of some twenty short records, which few answers have.
	largeAnswer = 6 << 10
)

// holding is what a run holds with an answer, whose texts it shares with the cache and with others. An address has no
// text: its copy is all of it.
func holding(a Answer) int {
	size := copySize * (len(a.Records) + len(a.Authority))
	if weight := a.Weight(); weight > largeAnswer && len(Addresses(a.Records)) == 0 {
		size += weight
	}
	return size
}

// errNoReadSlot is why a long message was not read.
var errNoReadSlot = errors.New("no slot to read a long message in time")

// read reads one message and passes it to keep; ok is false where it does not answer the query. Where the time was over
// before there was a slot to read it, the error is of kind Busy: the server did answer.
func (a attempt) read(ctx context.Context, packet []byte, query *dns.Msg, keep func(*dns.Msg)) (ok bool, err error) {
	if len(packet) > longMessage {
		if ok, err := plausible(packet, query); !ok {
			return false, err
		}
		release, err := a.reading.Take(ctx)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return false, shortage.Fault(errNoReadSlot)
		case err != nil:
			return false, err
		}
		defer release()
	}
	if err := processor.Spend(ctx, weight.DNSMessage, len(packet)); err != nil {
		return false, err
	}
	message, err := readMessage(packet, query)
	if message == nil {
		return false, err
	}
	keep(message)
	return true, nil
}

// The sizes of a message's parts on the wire (RFC 1035 section 4.1), the last two for the name of the root.
const (
	headerSize    = 12
	leastQuestion = 5
	leastRecord   = 11
)

// plausible reports, by the header of a long message, whether it may answer the query. One that promises more than
// its bytes can hold is malformed.
func plausible(packet []byte, query *dns.Msg) (bool, error) {
	field := func(i int) int { return int(binary.BigEndian.Uint16(packet[2*i:])) }
	const responseAndOpcode, response = 0xF800, 0x8000
	if field(0) != int(query.Id) || field(1)&responseAndOpcode != response {
		return false, nil
	}
	promised := headerSize + leastQuestion*field(2) + leastRecord*(field(3)+field(4)+field(5))
	if promised > len(packet) {
		return false, errMalformed
	}
	return true, nil
}
