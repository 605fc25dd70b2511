package dnsclient

import (
	"context"
	"runtime"

	"diagnostics/gateway/internal/memory"

	"github.com/miekg/dns"
)

// A message of 64 KiB is megabytes in memory: names are compressed on the wire, and escaped once they are read. So what
// large messages become is counted for the run that asked, and reading them takes no more than half of the
// processors.

const (
	// largeMessage is what no server sends over UDP.
	largeMessage = readSize
	// copySize is about what a record takes whose names and texts are another's too.
	copySize = 96
)

var unpacking = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// unpack is readMessage, one after the other where messages are large.
func unpack(ctx context.Context, packet []byte, query *dns.Msg) (*dns.Msg, error) {
	if len(packet) <= largeMessage {
		return readMessage(packet, query)
	}
	select {
	case unpacking <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-unpacking }()
	message, err := readMessage(packet, query)
	if message != nil {
		memory.Count(ctx, footprint(message))
	}
	return message, err
}

// footprint is about what a message takes in memory.
func footprint(m *dns.Msg) (size int) {
	for _, section := range [][]dns.RR{m.Answer, m.Ns, m.Extra} {
		for _, rr := range section {
			size += copySize + textSize(rr)
		}
	}
	return size
}

// textSize is about what the names and texts of a record take, escaped as they are kept.
func textSize(rr dns.RR) int {
	owner := len(rr.Header().Name)
	switch rr := rr.(type) {
	case *dns.NS:
		return owner + len(rr.Ns)
	case *dns.MX:
		return owner + len(rr.Mx)
	case *dns.CNAME:
		return owner + len(rr.Target)
	case *dns.PTR:
		return owner + len(rr.Ptr)
	case *dns.TXT:
		for _, chunk := range rr.Txt {
			owner += len(chunk)
		}
		return owner
	}
	return owner + 2*dns.Len(rr)
}
