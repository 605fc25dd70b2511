package dnsclient

import (
	"context"

	"github.com/miekg/dns"
)

// A message of 64 KiB is megabytes once it is unpacked: names are compressed on the wire, and escaped once they are
// read. So long messages are read a few at a time, each until what is too much of it was cut, and what is left is
// counted for every run that asked.

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
	if weight := a.Weight(); weight > largeAnswer && len(addresses(a)) == 0 {
		size += weight
	}
	return size
}

// read reads one message; ok is false where it does not answer the query.
func (e exchange) read(ctx context.Context, packet []byte, query *dns.Msg) (got reply, ok bool, err error) {
	long := len(packet) > longMessage
	if long {
		release, err := e.reading.Take(ctx)
		if err != nil {
			return reply{}, false, err
		}
		defer release()
	}
	message, err := readMessage(packet, query)
	if message == nil {
		return reply{}, false, err
	}
	return reply{
		answer: readAnswer(message, e.question), truncated: message.Truncated, rejectsEDNS: rejectsEDNS(message),
	}, true, nil
}
