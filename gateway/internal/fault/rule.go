package fault

import "diagnostics/shared/netpolicy"

// Rule names what refused: the policy's rule behind a Refused, the limit behind a Limited or Busy. It
// is for the metrics, so it is one of those listed here and never what a visitor typed.
type Rule string

// The rules behind a Refused.
const (
	RuleDenied         Rule = "denied"          // DENY_TARGETS
	RuleOwnAddress     Rule = "own_address"     // this host's
	RulePrivateAlias   Rule = "private_alias"   // a name of an inside network that a public one leads to
	RuleChangedAddress Rule = "changed_address" // the socket was about to connect to another than was judged
	RuleLocalName      Rule = "local_name"      // without a dot
	RuleNumericName    Rule = "numeric_name"    // ends in a number
	RuleUnderscoreName Rule = "underscore_name" // in the last label, or at an end of the registrable one
	RuleSpecialName    Rule = "special_name"    // of the special-use registries, and private names
	RuleReverseName    Rule = "reverse_name"    // of an address that is not public
	RuleSpecialASN     Rule = "special_asn"     // reserved, documentation, private

	RulePrivateAddress     Rule = "private_address"
	RuleLoopbackAddress    Rule = "loopback_address"
	RuleLinkLocalAddress   Rule = "link_local_address"
	RuleSharedAddress      Rule = "shared_address" // behind a carrier's NAT
	RuleUnspecifiedAddress Rule = "unspecified_address"
	RuleMulticastAddress   Rule = "multicast_address"
	RuleBroadcastAddress   Rule = "broadcast_address"
	RuleReservedAddress    Rule = "reserved_address"
	RuleTestAddress        Rule = "test_address"    // documentation, benchmarking
	RuleCloudAddress       Rule = "cloud_address"   // of a platform's own machines
	RuleSpecialAddress     Rule = "special_address" // every other: translation, tunnels, relays
)

// Refusals are all rules that can stand behind a Refused.
func Refusals() []Rule {
	return []Rule{
		RuleDenied, RuleOwnAddress, RulePrivateAlias, RuleChangedAddress, RuleLocalName, RuleNumericName, RuleUnderscoreName,
		RuleSpecialName, RuleReverseName, RuleSpecialASN, RulePrivateAddress, RuleLoopbackAddress, RuleLinkLocalAddress,
		RuleSharedAddress, RuleUnspecifiedAddress, RuleMulticastAddress, RuleBroadcastAddress, RuleReservedAddress,
		RuleTestAddress, RuleCloudAddress, RuleSpecialAddress,
	}
}

// The limits behind a Limited, and behind a Busy that is one of a limit.
const (
	LimitTool            Rule = "tool"              // of a client, a tool and a target
	LimitClient          Rule = "client"            // of a client over everything
	LimitNetwork         Rule = "network"           // of a network around the client
	LimitTarget          Rule = "target"            // of a target over all clients
	LimitSamples         Rule = "samples"           // of a client's samples
	LimitPages           Rule = "pages"             // of a client's pages and their assets
	LimitClientAddress   Rule = "client_address"    // a client's share of an address
	LimitAddress         Rule = "address"           // of an address over all clients
	LimitPorts           Rule = "ports"             // a client's different ports of an address
	LimitClientInFlight  Rule = "client_in_flight"  // a client's runs at once
	LimitNetworkInFlight Rule = "network_in_flight" // a network's runs at once
	LimitInFlight        Rule = "in_flight"         // this instance's runs at once
	LimitClientMemory    Rule = "client_memory"     // what a client's runs hold
	LimitNetworkMemory   Rule = "network_memory"    // what a network's runs hold
	LimitMemory          Rule = "memory"            // what all runs hold
	LimitTraffic         Rule = "traffic"           // what a run may send
	LimitProcessor       Rule = "processor"         // what a run may cost
	LimitWorkerShare     Rule = "worker_share"      // a client's or network's share of the worker's slots
	LimitWorker          Rule = "worker"            // the worker's slots and packets
	LimitProviderShare   Rule = "provider_share"    // this service's share of a provider
	LimitRedis           Rule = "redis"             // the calls to Redis at once
	LimitPlace           Rule = "place"             // the limits and slots of another place
	LimitPeer            Rule = "peer"              // what another place may take of this one
)

// Limits are all limits that can refuse.
func Limits() []Rule {
	return []Rule{
		LimitTool, LimitClient, LimitNetwork, LimitTarget, LimitSamples, LimitPages, LimitClientAddress, LimitAddress,
		LimitPorts, LimitClientInFlight, LimitNetworkInFlight, LimitInFlight, LimitClientMemory, LimitNetworkMemory,
		LimitMemory, LimitTraffic, LimitProcessor, LimitWorkerShare, LimitWorker, LimitProviderShare, LimitRedis,
		LimitPlace, LimitPeer,
	}
}

// The other causes that a failure's Kind does not distinguish.
const (
	// RuleShortage is a Busy, or an Upstream, of what this host itself lacks.
	RuleShortage Rule = "shortage"
	// RuleProviderWait is a Busy because of a provider's Retry-After.
	RuleProviderWait Rule = "provider_wait"
)

// ByRule sets the rule of a failure that is being made.
func (e *Error) ByRule(r Rule) *Error {
	e.Rule = r
	return e
}

// RuleOf is the rule by which an address is not public.
func RuleOf(v netpolicy.Verdict) Rule {
	if r, ok := ruleOfReason[v.Reason]; ok {
		return r
	}
	return RuleSpecialAddress
}

var ruleOfReason = map[string]Rule{
	"a private address":                                       RulePrivateAddress,
	"a site-local address":                                    RulePrivateAddress,
	"a loopback address":                                      RuleLoopbackAddress,
	"a link-local address":                                    RuleLinkLocalAddress,
	"an address of one link only":                             RuleLinkLocalAddress,
	"a shared address behind a carrier's NAT":                 RuleSharedAddress,
	"the unspecified address":                                 RuleUnspecifiedAddress,
	"an address of this network only":                         RuleUnspecifiedAddress,
	"a multicast address":                                     RuleMulticastAddress,
	"the broadcast address":                                   RuleBroadcastAddress,
	"a reserved address":                                      RuleReservedAddress,
	"an address outside the global unicast space":             RuleReservedAddress,
	"a documentation address":                                 RuleTestAddress,
	"a benchmarking address":                                  RuleTestAddress,
	"an address reserved for a cloud platform's own machines": RuleCloudAddress,
}
