package dnsresolvercheck

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/netip"
	"slices"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/dnsclient"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// Bounds on the queries to the domain's own servers.
const (
	maxServers   = 3
	maxAuthority = 3 * time.Second // finding them included
	dnsPort      = 53
)

// authority is what the domain's own name servers say.
type authority struct {
	Zone string `json:"zone"`
	// Agreed means that all servers that gave an answer gave the same.
	Agreed bool `json:"agreed"`
	// Values, Alias and TTL are those that most of them gave.
	Values    []string       `json:"values" bound:"text=16k list=72k"`
	Alias     *string        `json:"alias"`
	TTL       *uint32        `json:"ttl"`
	Servers   []serverAnswer `json:"servers" wire:"len=0..3" bound:"apart"`
	Truncated bool           `json:"truncated,omitempty"`
}

// serverAnswer is what one of them says, and where it is.
type serverAnswer struct {
	Name      string   `json:"name"`
	Address   *string  `json:"address"` // null where none could be queried
	Outcome   string   `json:"outcome" wire:"enum=answer|nodata|nxdomain|error"`
	ErrorCode *string  `json:"errorCode"`        // of an error of a server that was queried
	Reason    *string  `json:"reason,omitempty"` // of every error
	Values    []string `json:"values" bound:"text=16k list=72k"`
	// Alias is where a chain of aliases leaves the zone: what is beyond belongs to another zone.
	Alias      *string `json:"alias"`
	TTL        *uint32 `json:"ttl"`
	DurationMs float64 `json:"durationMs"`
	Truncated  bool    `json:"truncated,omitempty"`

	Digest [sha256.Size]byte `json:"-"`
	// refers means that the server has handed the name to others.
	refers bool
}

// Enums implements decode.Enumerated.
func (serverAnswer) Enums() map[string][]string {
	return map[string][]string{"errorCode": append(dnsclient.Codes(), dnsclient.CodeBusy, codeLame)}
}

// codeLame is the error of a server that answers, and does not serve the zone.
const codeLame = "ELAME"

func (s serverAnswer) conclusive() bool { return s.Outcome != outcomeError }

// same reports whether two servers gave the same answer. A name that does not exist and one without such records count
// alike, as they do among the resolvers.
func (s serverAnswer) same(other serverAnswer) bool {
	if s.Alias != nil || other.Alias != nil {
		return s.Alias != nil && other.Alias != nil && *s.Alias == *other.Alias
	}
	return s.Digest == other.Digest && slices.Equal(s.Values, other.Values)
}

// askAuthority queries the domain's own servers; nil where they could not be found. What of it fails is reported there.
func (c query) askAuthority(ctx context.Context, client *egress.Client) *authority {
	ctx, cancel := context.WithTimeout(ctx, maxAuthority)
	defer cancel()
	found := findZone(ctx, client, c.domain.String())
	if found.apex == "" || ctx.Err() != nil {
		return nil
	}
	names := found.servers[:min(len(found.servers), maxServers)]
	servers := make([]serverAnswer, len(names))
	var asking parallel.Group
	for i, name := range names {
		asking.Go(func() { servers[i] = c.askServer(ctx, client, found.apex, name) })
	}
	asking.Wait()
	if slices.ContainsFunc(servers, func(s serverAnswer) bool { return s.refers }) {
		return nil // the name is in a zone below, whose servers were not found
	}
	return summedUp(found.apex, servers)
}

// summedUp puts the answers of the servers together.
func summedUp(apex string, servers []serverAnswer) *authority {
	a := &authority{Zone: apex, Values: []string{}, Servers: servers}
	most := 0
	for _, server := range servers {
		given := which(servers, func(s serverAnswer) bool { return s.conclusive() && s.same(server) })
		if server.conclusive() && len(given) > most {
			most = len(given)
			a.Values, a.Alias, a.TTL, a.Truncated = server.Values, server.Alias, server.TTL, server.Truncated
		}
	}
	a.Agreed = most > 0 && most == len(a.answered())
	return a
}

// answered are the servers that said what there is, or that there is nothing.
func (a *authority) answered() []serverAnswer {
	if a == nil {
		return nil
	}
	return which(a.Servers, serverAnswer.conclusive)
}

func (c query) askServer(ctx context.Context, client *egress.Client, apex, name string) serverAnswer {
	address, err := addressOf(ctx, client, name)
	if err != nil {
		return notReached(name, err)
	}
	answer, err := client.AskAuthority(ctx, netip.AddrPortFrom(address, dnsPort), c.domain.String(),
		dns.StringToType[c.recordType])
	if err != nil {
		return notReached(name, err)
	}
	return describeServer(apex, name, address, answer)
}

// addressOf is the one address of a server that is queried: of IPv4 where there is one, since that is how most
// resolvers reach it.
func addressOf(ctx context.Context, client *egress.Client, name string) (netip.Addr, error) {
	host, err := target.ParseHost(name)
	if err != nil || host.IsAddr() {
		return netip.Addr{}, errName
	}
	resolution, err := client.ResolveNameServer(ctx, host)
	if err != nil {
		return netip.Addr{}, err
	}
	if resolution.Reachable() != nil {
		return netip.Addr{}, errFamily
	}
	all := resolution.All()
	if v4 := slices.IndexFunc(all, netip.Addr.Is4); v4 >= 0 {
		return all[v4], nil
	}
	return all[0], nil
}

// Why a server with a name is not queried, beside what the lookup and the limits say.
var (
	errName   = fault.New(fault.Invalid, "SERVER_NAME_NOT_PUBLIC", nil)
	errFamily = fault.New(fault.Invalid, "NO_FAMILY_HERE", nil)
)

// notReached is a server that was not queried. Its address is not reported: it may be a private one.
func notReached(name string, err error) serverAnswer {
	code := codeServerNotFound
	switch {
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.Limited):
		known, _ := errors.AsType[*fault.Error](err)
		return serverAnswer{Name: name, Outcome: outcomeError, Reason: new(known.Sentence()), Values: []string{}}
	case fault.Is(err, fault.Refused):
		code = codeServerNotPublic
	case fault.Is(err, fault.NoAddress):
		code = codeServerNoAddress
	case fault.Is(err, fault.Busy):
		code = codeNotSent
	}
	return serverAnswer{Name: name, Outcome: outcomeError, Reason: new(rows.Sentence(code, nil)), Values: []string{}}
}

// describeServer reads the answer of a server of the zone.
func describeServer(apex, name string, address netip.Addr, a dnsclient.Answer) serverAnswer {
	server := serverAnswer{
		Name: name, Address: format.TextOrNull(address.String()),
		Outcome:    outcomeError,
		Values:     []string{},
		DurationMs: format.Milliseconds(a.Duration),
	}
	switch {
	case !a.Conclusive():
		server.ErrorCode, server.Reason = &a.Code, reasonOf(a.Code)
	case !a.Authoritative:
		server.ErrorCode, server.Reason = new(codeLame), reasonOf(codeLame)
		server.refers = refersBelow(apex, a.Authority)
	default:
		server.read(apex, a)
	}
	return server
}

// refersBelow reports whether this is a referral to the servers of a zone below.
func refersBelow(apex string, section []dns.RR) bool {
	return slices.ContainsFunc(section, func(rr dns.RR) bool {
		owner := dns.CanonicalName(rr.Header().Name)
		return rr.Header().Rrtype == dns.TypeNS && owner != dns.Fqdn(apex) && dns.IsSubDomain(dns.Fqdn(apex), owner)
	})
}

// read takes an authoritative answer. Where the chain of aliases leaves the zone, whatever follows is not the server's
// to report.
func (s *serverAnswer) read(apex string, a dnsclient.Answer) {
	switch alias := leaving(apex, a); {
	case alias != "":
		s.Outcome, s.Alias = outcomeAnswer, &alias
	case a.Code == "":
		s.Outcome, s.TTL = outcomeAnswer, &a.TTL
		s.Values, s.Digest, s.Truncated = normalValues(a.Records), a.Digest, a.Cut
	case a.Code == dnsclient.CodeNotFound:
		s.Outcome = outcomeNXDomain
	default:
		s.Outcome = outcomeNoData
	}
}

// leaving is the name at which the chain of aliases of an answer leaves the zone, into one of its own or another's;
// empty where it does not.
func leaving(apex string, a dnsclient.Answer) string {
	for _, alias := range a.CNAMEChain {
		if !dns.IsSubDomain(dns.Fqdn(apex), dns.Fqdn(alias)) {
			return alias
		}
	}
	zone, _ := vouching(a.Authority)
	if last := len(a.CNAMEChain) - 1; last >= 0 && a.Code == dnsclient.CodeNoData && zone == "" {
		return a.CNAMEChain[last] // a zone below: nothing vouches for the absence
	}
	return ""
}

// reasonOf returns why a name server has no usable answer.
func reasonOf(code string) *string {
	if code == dnsclient.CodeBusy {
		return new(rows.Sentence(codeNotSent, nil))
	}
	return new(rows.Sentence("SERVER_"+code, nil))
}
