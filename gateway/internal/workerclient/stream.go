package workerclient

import (
	"context"
	"encoding/json"
	"net/netip"
	"strconv"

	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

// steps passes the steps of a running job on to the reader at the gateway. It is nil for jobs without one.
type steps struct {
	path  string // of the job, which says what steps it has
	asked netip.Addr
	feed  *progress.Feed
	inside
}

// stepsOf returns the steps of a job where a client reads them as they come, else nil.
func stepsOf(ctx context.Context, path string, asked netip.Addr, hidden []netip.Prefix) *steps {
	if feed := progress.Of(ctx); feed != nil {
		return &steps{path: path, asked: asked, feed: feed, inside: inside{hidden}}
	}
	return nil
}

type step struct {
	Kind  string           `json:"kind"`
	Hop   *workerapi.Hop   `json:"hop"`
	Reply *workerapi.Reply `json:"reply"`
}

// pass passes a step on, held against the contract and cleaned as the answer will be; any other is dropped.
func (s *steps) pass(line json.RawMessage) {
	var received step
	switch {
	case json.Unmarshal(line, &received) != nil: // of a kind to come
	case received.Kind == "hop" && s.path == workerapi.PathTraceroute && received.Hop != nil &&
		received.Hop.Validate(s.asked) == nil:
		hop := *received.Hop
		s.hideHop(&hop)
		hopLimits.Enforce(&hop)
		s.report("hop", hop.TTL, hop)
	case received.Kind == "reply" && received.Reply != nil && received.Reply.Seq <= s.probes() &&
		received.Reply.Validate() == nil:
		s.report("reply", received.Reply.Seq, *received.Reply)
	}
}

// probes is how many replies a job may send as steps; those of a confirmation are in the answer alone.
func (s *steps) probes() int {
	switch s.path {
	case workerapi.PathPing:
		return workerapi.PingProbes
	case workerapi.PathPacketLoss:
		return workerapi.LossProbes
	}
	return -1
}

func (s *steps) report(kind string, number int, value any) {
	s.feed.Report(kind, strconv.Itoa(number), value)
}
