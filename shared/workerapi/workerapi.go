// Package workerapi is the contract between the gateway and the worker: paths, bounds, requests, results and the
// envelope. Both sides import it, so neither can drift.
package workerapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Paths of the worker's jobs.
const (
	PathTraceroute = "/api/traceroute"
	PathPing       = "/api/ping"
	PathPacketLoss = "/api/packet-loss"
	PathHealth     = "/healthz"
	PathReady      = "/readyz"
)

// Bounds of the exchange.
const (
	MaxRequestBytes  = 4 << 10
	MaxResponseBytes = 1 << 20
	MinTokenLength   = 16

	MaxHops         = 30
	ProbesPerHop    = 3
	GapLimit        = 10 // silent hops past the last answer
	PingProbes      = 10
	LossProbes      = 50
	TracerouteLimit = 5 * time.Second
	// TracerouteMTULimit is that of a trace with the path MTU.
	TracerouteMTULimit = 10 * time.Second
	PingLimit          = 12 * time.Second
	JobLimit           = 15 * time.Second
	// PacketLossLimit leaves some of JobLimit for the answer to reach the gateway.
	PacketLossLimit = JobLimit - 500*time.Millisecond
	PingGap         = 200 * time.Millisecond
	LossGap         = 100 * time.Millisecond
	LateAfter       = 2 * time.Second // a reply later than this is late; and answers are waited for so long

	// The sizes of an MTU, in octets, and the packets that are sent for one.
	MinMTU       = 68
	MaxMTU       = 1500
	MaxMTUProbes = 40

	ConfirmationProbes = 6
	ConfirmationGap    = time.Second
)

// Request is the body of every job. Target is an address literal; the worker never resolves a name.
type Request struct {
	Target string `json:"target"`
	// Hostname is the name that the visitor typed. The worker neither looks it up nor logs it.
	Hostname string `json:"hostname,omitempty"`
	// RequestID is the gateway's, by which lines of both logs belong together.
	RequestID string `json:"requestId,omitempty"`
	// Options are those of a trace; other jobs have none.
	Options *TraceOptions `json:"options,omitempty"`
	// Client, Group and Place name the visitor, the network around them and the other place whose visitor it is by keyed
	// hashes (Pseudonym), only for the shares of the worker's slots. A job without one of them has no such share.
	Client string `json:"client,omitempty"`
	Group  string `json:"group,omitempty"`
	Place  string `json:"place,omitempty"`
	// NAT64 are the prefixes by which the gateway's network translates IPv6 addresses to IPv4 (RFC 6052).
	NAT64 []string `json:"nat64,omitempty"`
}

// HeaderGateways is in the answers of PathHealth: how many addresses have asked with a token in the last three seconds
// whether the worker is ready, as every gateway that uses it does.
const HeaderGateways = "X-Worker-Gateways"

// HeaderRefused says why the worker turns a job away. With a 429 RefusedShare is that the Client, Group or Place holds
// its share of the slots, and Retry-After is about that share; RefusedBudget that the worker's budget of packets is
// used up, and Retry-After is when there is some again; without either every slot is taken. With a 503 RefusedShortage
// is that the worker's own host cannot send: it has lost its link or route, or has no file or memory left. No
// measurement comes of that, since its silence would be reported as the target's. With a 502 RefusedProtocol is that
// the worker has no sockets for any but ICMP probes.
const (
	HeaderRefused   = "X-Worker-Refused"
	RefusedShare    = "share"
	RefusedBudget   = "budget"
	RefusedShortage = "shortage"
	RefusedProtocol = "protocol"
)

// Envelope is the answer of the worker, as of the gateway: Data on success, Error otherwise.
type Envelope[T any] struct {
	Data       *T      `json:"data,omitempty"`
	Error      string  `json:"error,omitempty"`
	DurationMs float64 `json:"durationMs"`
	RequestID  string  `json:"requestId"`
}

// Ready is the body of /readyz.
type Ready struct {
	Status   string `json:"status"`   // ready, draining
	Families []int  `json:"families"` // 4, 6: the families whose sockets are open
	Mode     string `json:"mode"`     // raw, datagram
}

// Why a trace ended.
const (
	StopReached     = "reached"
	StopMaxHops     = "maxHops"
	StopUnreachable = "unreachable"
	StopProhibited  = "prohibited"
	StopDeadline    = "deadline"
	StopGapLimit    = "gapLimit"
	StopCompleted   = "completed" // ping and packet loss
)

// Measurement is when a measurement was made, and whether for this request.
type Measurement struct {
	// MeasuredAt is when the first probe left, in UTC. It is the zero time in answers of older workers.
	MeasuredAt time.Time `json:"measuredAt"`
	// Shared is that it was begun for another request.
	Shared bool `json:"shared"`
}

// MarkShared says that the measurement was begun for another request than the one that is answered with it.
func (m *Measurement) MarkShared() { m.Shared = true }

// Traceroute is the result of a trace. Times are milliseconds.
type Traceroute struct {
	Target      string   `json:"target"`
	Address     string   `json:"address"`
	Family      int      `json:"family" wire:"enum=4|6"`
	Reached     bool     `json:"reached"`
	StopReason  string   `json:"stopReason" wire:"enum=reached|maxHops|unreachable|prohibited|deadline|gapLimit"`
	Hops        []Hop    `json:"hops" wire:"len=0..30"`
	Explanation []string `json:"explanation" bound:"list=64k"`
	Measurement
	Raw *string `json:"raw,omitempty" bound:"text=256k"`
	// Truncated is the gateway's to say: that the worker sent more than an answer may hold.
	Truncated bool `json:"truncated,omitempty"`
	// Protocol is that of the probes: ProtocolICMP, ProtocolUDP or ProtocolTCP. Port is the destination's; nil for ICMP.
	Protocol string `json:"protocol" wire:"enum=icmp|udp|tcp"`
	Port     *int   `json:"port" wire:"min=1 max=65535"`
	// MTU is absent where it was not requested.
	MTU *MTU `json:"mtu,omitempty"`
}

// MTU is what is known of the size of packets, in octets with the IP header, that get to the destination in one piece.
type MTU struct {
	// Path is the largest size that does; null where that is not known.
	Path *int `json:"path" wire:"min=68 max=1500"`
	// LimitedAt is the TTL of the router behind which the path narrows to Path; null where nothing does so, or it is not
	// known where.
	LimitedAt *int `json:"limitedAt" wire:"min=1 max=30"`
	// Reported is true where an ICMP message reports what is too large, false where it vanishes, and else null.
	Reported *bool `json:"reported"`
	// HopMTUs are the routers behind which the path narrows, in order, with the size that passes: as they state it and
	// nothing contradicts, or as measured where larger packets vanish.
	HopMTUs []HopMTU `json:"hopMtus" wire:"len=0..30"`
	Note    *string  `json:"note"`
}

// HopMTU is the size that passes behind the router at a TTL.
type HopMTU struct {
	TTL int `json:"ttl" wire:"min=1 max=30"`
	MTU int `json:"mtu" wire:"min=68 max=1500"`
}

// Hop is one TTL of a trace. A private hop is Hidden and has no address.
type Hop struct {
	TTL         int        `json:"ttl" wire:"min=1 max=30"`
	Address     *string    `json:"address"`
	Addresses   []string   `json:"addresses" bound:"list=1k"`
	Hostname    *string    `json:"hostname"` // filled by the gateway
	Hidden      bool       `json:"hidden"`
	ASN         *HopASN    `json:"asn"` // filled by the gateway
	Sent        int        `json:"sent"`
	Received    int        `json:"received"`
	LossPercent float64    `json:"lossPercent" wire:"max=100"`
	BestMs      *float64   `json:"bestMs"`
	AverageMs   *float64   `json:"averageMs"`
	WorstMs     *float64   `json:"worstMs"`
	RTTsMs      []*float64 `json:"rttsMs" bound:"list=1k"` // one per probe, null where silent
	Note        *string    `json:"note"`
	// Labels are the MPLS label stack, outermost first; absent where the router reports none.
	Labels []Label `json:"labels,omitempty"`
	// TargetAddress is set where the answers have the target's address although probes go on from there: a router
	// translates addresses, or an answer is forged. The hop is not the target.
	TargetAddress bool `json:"targetAddress,omitempty"`
	// Truncated is as that of Traceroute.
	Truncated bool `json:"truncated,omitempty"`
}

// Label is one entry of an MPLS label stack (RFC 3032 section 2.1, RFC 4950).
type Label struct {
	Label  int  `json:"label" wire:"max=1048575"` // 0 to 1,048,575
	TC     int  `json:"tc" wire:"max=7"`          // traffic class, 0 to 7
	Bottom bool `json:"bottom"`
	TTL    int  `json:"ttl" wire:"max=255"` // 0 to 255
}

// HopASN names the network of a hop.
type HopASN struct {
	ASN  int     `json:"asn"`
	Name *string `json:"name"`
	// Others announce the same prefix at the same time, in order.
	Others []int `json:"others,omitempty" wire:"len=1.."`
}

// Ping is the result of a ping. Times are milliseconds.
type Ping struct {
	Target     string `json:"target"`
	Address    string `json:"address"`
	Family     int    `json:"family" wire:"enum=4|6"`
	Sent       int    `json:"sent"`
	Received   int    `json:"received"`
	Late       int    `json:"late"` // of Received, those that took longer than LateAfter
	Duplicates int    `json:"duplicates"`
	// Undecided are probes that were unanswered at the end for a shorter time than the slowest reply took, or hardly
	// longer. They are neither received nor lost.
	Undecided int `json:"undecided"`
	// Damaged are probes whose only replies lack a part of the payload. They are neither received nor lost.
	Damaged int `json:"damaged"`
	// LossPercent is the share of lost probes among those that are decided.
	LossPercent float64  `json:"lossPercent" wire:"max=100"`
	MinMs       *float64 `json:"minMs"`
	AverageMs   *float64 `json:"averageMs"`
	MedianMs    *float64 `json:"medianMs"`
	MaxMs       *float64 `json:"maxMs"`
	StddevMs    *float64 `json:"stddevMs"`
	JitterMs    *float64 `json:"jitterMs"`
	Replies     []Reply  `json:"replies"`
	StopReason  string   `json:"stopReason" wire:"enum=completed|unreachable|prohibited|deadline"`
	// Confirmation is null where what is missing does not look like a limit on answers.
	Confirmation *Confirmation `json:"confirmation"`
	Measurement
	Raw *string `json:"raw,omitempty" bound:"text=256k"`
	// Truncated is as that of Traceroute.
	Truncated bool `json:"truncated,omitempty"`
}

// Confirmation is what came of a few probes, farther apart, behind a series whose losses look like a limit on answers:
// a host that answers all of them probably has one. They are not among the other numbers.
type Confirmation struct {
	IntervalMs  float64 `json:"intervalMs"`
	Sent        int     `json:"sent" wire:"min=1"`
	Received    int     `json:"received"`
	LossPercent float64 `json:"lossPercent" wire:"max=100"`
}

// Reply is one probe of a ping; RTTMs is null where no reply came.
type Reply struct {
	Seq       int      `json:"seq"`
	RTTMs     *float64 `json:"rttMs"`
	TTL       *int     `json:"ttl" wire:"max=255"`
	Late      bool     `json:"late,omitempty"`      // it took longer than LateAfter
	Undecided bool     `json:"undecided,omitempty"` // it is one of Ping.Undecided
	Damaged   bool     `json:"damaged,omitempty"`   // it is one of Ping.Damaged
}

// PacketLoss is a longer, faster ping, with the runs of lost probes.
type PacketLoss struct {
	Ping
	Bursts []Burst `json:"bursts"`
}

// Burst is a run of lost probes.
type Burst struct {
	StartSeq int `json:"startSeq"`
	Length   int `json:"length" wire:"min=1"`
}

// Shares of a worker's slots, so that a few visitors cannot hold them all, whichever gateways they come through.
const (
	clientFraction = 16
	groupFraction  = 4
	placeFraction  = 2
	leastShare     = 3 // what the pages run at once for one visitor
)

// ClientShare is how many of the slots one Client holds at most.
func ClientShare(slots int) int { return max(leastShare, slots/clientFraction) }

// GroupShare is how many of the slots one Group holds at most.
func GroupShare(slots int) int { return max(leastShare, slots/groupFraction) }

// PlaceShare is how many of the slots all clients of one Place hold at most: it may name any number of them.
func PlaceShare(slots int) int { return max(1, slots/placeFraction) }

// pseudonymOctets leaves collisions between a worker's few jobs out of question, and keeps bodies short.
const pseudonymOctets = 16

// Pseudonym returns the Client, Group or Place of a Request for what names them at the gateway. It is keyed with the
// token, so that all gateways that send the same token agree and no other party can invert it: while a token is
// rotated, each of them has two shares. kind ("client", "group", "place") keeps them apart. An empty name has none.
func Pseudonym(token, kind, name string) string {
	if name == "" {
		return ""
	}
	h := hmac.New(sha256.New, []byte(token))
	// The kinds hold no NUL, so no two pairs are the same octets.
	h.Write([]byte(kind + "\x00" + name))
	return hex.EncodeToString(h.Sum(nil)[:pseudonymOctets])
}

// maxPseudonym leaves room for longer ones of gateways to come.
const maxPseudonym = 64

// ValidPseudonym reports whether a worker takes s as a Client, Group or Place: at most 64 printable ASCII characters
// without spaces; empty stands for none.
func ValidPseudonym(s string) bool {
	return len(s) <= maxPseudonym && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// The protocols of the probes of a trace.
const (
	ProtocolICMP = "icmp"
	ProtocolUDP  = "udp"
	ProtocolTCP  = "tcp"
)

// The ports that are probed where none is given: that of websites, and the first of those that traceroute has always
// used since nothing listens there.
const (
	DefaultPortTCP = 443
	DefaultPortUDP = 33434
)

// TraceOptions say what the probes of a trace are, and whether it measures the path MTU. The zero TraceOptions, as an
// absent one, is ICMP.
type TraceOptions struct {
	Protocol string `json:"protocol,omitempty"`
	Port     uint16 `json:"port,omitempty"` // 0 for the protocol's default
	MTU      bool   `json:"mtu,omitempty"`
}

// Complete fills in what is left out. The error names the option that is wrong, for the author of the request.
func (o TraceOptions) Complete() (TraceOptions, error) {
	switch {
	case o.Protocol == "", o.Protocol == ProtocolICMP:
		o.Protocol = ProtocolICMP
		if o.Port != 0 {
			return o, fmt.Errorf("port is %d without %s or %s", o.Port, ProtocolUDP, ProtocolTCP)
		}
	case o.Protocol != ProtocolUDP && o.Protocol != ProtocolTCP:
		return o, fmt.Errorf("protocol is %q", o.Protocol)
	case o.Port != 0:
	case o.Protocol == ProtocolTCP:
		o.Port = DefaultPortTCP
	default:
		o.Port = DefaultPortUDP
	}
	return o, nil
}

// ValidFor returns an error unless a trace was made with the options. One without a protocol is of a worker that has
// none but ICMP; one without a requested path MTU is of a worker that measures none. The error wraps ErrContract.
func (t Traceroute) ValidFor(asked TraceOptions) error {
	protocol, port := t.Protocol, 0
	if protocol == "" {
		protocol = ProtocolICMP
	}
	if t.Port != nil {
		port = *t.Port
	}
	if protocol != asked.Protocol || port != int(asked.Port) {
		return breach("%s port %d was answered for %s port %d", protocol, port, asked.Protocol, asked.Port)
	}
	if t.MTU != nil && !asked.MTU {
		return breach("mtu was not requested")
	}
	return nil
}
