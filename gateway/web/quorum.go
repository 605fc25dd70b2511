package web

import "maps"

// quorum holds the sentences on the results of several places: for each code of lib/quorum.js a tone and a sentence.
//
// ALL_GOOD and ALL_BAD are places that agree, with _DIFFER if their values differ and _JOIN if the paths have a router
// in common; MOST_GOOD and MOST_BAD have a majority; SPLIT has none. SAME quotes the conclusion that all places have.
// ONE and NONE are too few results to compare. lib/quorum.js appends the reasons of single places,
// and never shows a better tone than the worst conclusion allows.
//
// In a sentence {all} is "all 3 places" and {none} "none of the 3 places", {good} and {bad} name places, {few} names
// the minority, {rest} is the majority and {path} the way of the minority, {one} is the only place, {groups} is each
// value with its places, {value} is the first value, {kinds} counts the values, {fastest} and {slowest} are places with
// their times, {meet} is a router, {message} is that of a conclusion.
type quorum map[string][2]string

// incomparable are the sentences of every tool.
var incomparable = quorum{
	"ONE":  {"info", "Only {one} gave a result. {message}"},
	"NONE": {"warn", "No place gave a result."},
	"SAME": {"info", "{message} It is the same from {all}."},
}

// plain are the sentences of a tool that lib/quorum.js does not read.
var plain = quorum{
	"ALL_GOOD":        {"good", "{all} get the same result."},
	"ALL_GOOD_DIFFER": {"info", "The results differ between places. The table marks what differs."},
	"ALL_BAD":         {"warn", "{all} get no result."},
	"SPLIT":           {"warn", "There is a result from {good}, but not from {bad}."},
}

var quorums = map[string]quorum{
	"uptime": {
		"ALL_GOOD":        {"good", "Up from {all}."},
		"ALL_GOOD_DIFFER": {"info", "Up from {all}, but the answers differ: {groups}."},
		"ALL_BAD":         {"bad", "The site works from {none}: the fault is probably at the site itself."},
		"MOST_GOOD": {"warn", "The site fails from {few} and works from {rest}: probably a fault or firewall on " +
			"{path}."},
		"MOST_BAD": {"bad", "The site works only from {few}, not from {rest}: the fault is probably at the site or near " +
			"it."},
		"SPLIT": {"warn", "The site works from {good}, but not from {bad}: the fault may be at the site or on the path."},
	},
	"dns-lookup": {
		"ALL_GOOD": {"good", "{all} get the same answer from the DNS."},
		"ALL_GOOD_DIFFER": {"info", "{all} get {kinds} different answers from the DNS, as is usual for a CDN or while a " +
			"change spreads."},
		"ALL_BAD": {"bad", "The DNS answers {none}."},
		"MOST_GOOD": {"warn", "The DNS has no answer for {few}, but one for {rest}: a resolver or name server near {few} " +
			"is probably outdated, filtering or failing."},
		"MOST_BAD": {"bad", "The DNS answers only {few}, not {rest}: the answer is probably old, or meant for that place."},
		"SPLIT": {"warn", "The DNS answers {good}, but not {bad}: a change may be spreading, or the servers answer by " +
			"place."},
	},
	"dns-resolver-check": {
		"ALL_GOOD": {"good", "The public resolvers agree and give {all} the same records."},
		"ALL_GOOD_DIFFER": {"info", "The public resolvers agree at each place, but give {kinds} different sets of " +
			"records by place, as is usual for a CDN."},
		"ALL_BAD": {"bad", "The public resolvers disagree when asked from {all}: the fault is probably at the name " +
			"servers."},
		"MOST_GOOD": {"warn", "The public resolvers disagree when asked from {few}, but not from {rest}: the fault is " +
			"probably near {few}."},
		"MOST_BAD": {"warn", "The public resolvers agree only when asked from {few}: a change is probably still spreading."},
		"SPLIT": {"warn", "The public resolvers agree when asked from {good}, but not from {bad}: a change may be " +
			"spreading."},
	},
	"http-headers": {
		"ALL_GOOD":        {"good", "{all} get the same status: {value}."},
		"ALL_GOOD_DIFFER": {"info", "The status depends on the place: {groups}."},
		"ALL_BAD":         {"bad", "{all} get an error: {groups}."},
		"MOST_GOOD": {"warn", "There is an error only from {few}: {groups}. The server probably refuses visitors from " +
			"there, or another server answers them."},
		"MOST_BAD": {"warn", "There is an error from all places but {few}: {groups}. The server probably admits only some " +
			"places."},
		"SPLIT": {"warn", "There is an error from {bad}, but not from {good}: {groups}. The server may answer by place."},
	},
	"ssl-checker": {
		"ALL_GOOD": {"good", "The same trusted certificate from {all}."},
		"ALL_GOOD_DIFFER": {"info", "Trusted certificates from {all}, but {kinds} different ones, as is usual for several " +
			"servers or a CDN."},
		"ALL_BAD": {"bad", "The certificate is trusted from {none}: the fault is probably at the server."},
		"MOST_GOOD": {"bad", "There is no trusted certificate from {few}, but one from {rest}: another server answers " +
			"there, or something on {path} does."},
		"MOST_BAD": {"bad", "The certificate is trusted only from {few}, not from {rest}: the servers probably have " +
			"different certificates."},
		"SPLIT": {"bad", "The certificate is trusted from {good}, but not from {bad}: the servers probably have different " +
			"certificates."},
	},
	"port-checker": {
		"ALL_GOOD":  {"good", "The port is open from {all}."},
		"ALL_BAD":   {"bad", "The port is open from {none}: {groups}."},
		"MOST_GOOD": {"warn", "{few} cannot connect to the port, {rest} can: probably a fault or firewall on {path}."},
		"MOST_BAD": {"warn", "The port is open only from {few}, not from {rest}: a firewall probably admits only some " +
			"networks."},
		"SPLIT": {"warn", "The port is open from {good}, but not from {bad}: a firewall probably admits only some networks."},
	},
	"ping": {
		"ALL_GOOD":  {"good", "It can be reached from {all}, fastest from {fastest}, slowest from {slowest}."},
		"ALL_BAD":   {"warn", "It can be reached from {none}: the host is down, or ignores echo requests."},
		"MOST_GOOD": {"warn", "{few} cannot reach the host, {rest} can: probably a fault or firewall on {path}."},
		"MOST_BAD":  {"warn", "Only {few} can reach the host, {rest} cannot: a firewall probably admits only some networks."},
		"SPLIT": {"warn", "{good} can reach the host, {bad} cannot: a fault or firewall may be on the path or at the " +
			"host."},
	},
	"traceroute": {
		"ALL_GOOD":      {"good", "The paths from {all} reach the destination and have no router in common."},
		"ALL_GOOD_JOIN": {"good", "The paths from {all} reach the destination and join at {meet}."},
		"ALL_GOOD_DIFFER": {"info", "The paths from {all} reach {kinds} different addresses, as is usual for a CDN or " +
			"several servers."},
		"ALL_BAD": {"warn", "The destination can be reached from {none}, and the paths have no router in common."},
		"ALL_BAD_JOIN": {"warn", "The destination can be reached from {none}. The last router that the paths share is " +
			"{meet}: the cause is probably behind it."},
		"MOST_GOOD": {"warn", "{few} cannot reach the destination, {rest} can: probably a fault or firewall on {path}."},
		"MOST_BAD": {"warn", "Only {few} can reach the destination, {rest} cannot: a firewall near it probably admits only " +
			"some networks."},
		"SPLIT": {"warn", "{good} can reach the destination, {bad} cannot: a fault or firewall may be on the path or at " +
			"the destination."},
	},
	"packet-loss": {
		"ALL_GOOD":  {"good", "No loss from {all}."},
		"ALL_BAD":   {"bad", "Loss from {all}: {groups}. The fault is probably at the host or near it."},
		"MOST_GOOD": {"warn", "Loss from {few}, none from {rest}: the fault is probably on {path}."},
		"MOST_BAD":  {"bad", "No loss from {few}, loss from {rest}: the fault is probably at the host or near it."},
		"SPLIT":     {"warn", "Loss from {bad}, none from {good}: the fault may be on the path or at the host."},
	},
}

// quorumOf returns the sentences that a tool's page needs.
func quorumOf(slug string) quorum {
	all := maps.Clone(incomparable)
	own, has := quorums[slug]
	if !has {
		own = plain
	}
	maps.Copy(all, own)
	return all
}
