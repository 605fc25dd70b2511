package dnsclient

import (
	"context"

	"diagnostics/gateway/internal/memory"

	"github.com/miekg/dns"
)

// A message of 64 KiB is megabytes once it is unpacked: names are compressed on the wire, and escaped once they are
// read. So long messages are read a few at a time, each until what is too much of it was cut, and what is left is
// counted for the run that asked.

const (
	// longMessage is what no server sends over UDP.
	longMessage = readSize
	// copySize is about what a record takes whose names and texts are another's too.
	copySize = 96
)

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
	got = reply{
		answer: readAnswer(message, e.question), truncated: message.Truncated, rejectsEDNS: rejectsEDNS(message),
	}
	if long {
		memory.Count(ctx, got.answer.Weight())
	}
	return got, true, nil
}
