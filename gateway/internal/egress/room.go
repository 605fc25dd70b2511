package egress

import (
	"context"
	"net/http"

	"diagnostics/gateway/internal/traffic"
)

// What a conversation takes beside what the visitor or a server has chosen of it, in bytes on the wire.
const (
	leastConversation = 1 << 10 // a connection and a few lines
	fullConversation  = 5 << 10 // and TLS with its longest usual hello, and the headers of a request
)

// room fails where a run that has sent much already has none left for the round trip. Half a request would tell nobody
// anything.
func (w dialPlan) room(ctx context.Context, r Request, cookies []*http.Cookie) error {
	if w.admit == nil {
		return nil
	}
	size := fullConversation + len(r.URL.String())
	for _, cookie := range cookies {
		size += len(cookie.Name) + len(cookie.Value)
	}
	return traffic.Room(ctx, size)
}
