package web

import "maps"

// quorum is what the results of several places may come to: for each code of lib/quorum.js a tone and a sentence.
//
// ALL_GOOD and ALL_BAD are places that agree, with _DIFFER where they agree and their values differ, and _JOIN where
// paths have a router in common; MOST_GOOD and MOST_BAD have a majority; SPLIT has none; ONE and NONE are too few
// results to compare.
//
// In a sentence {all} is "all 3 places", {good} and {bad} name places, {few} names the minority and {rest} counts the
// majority, {one} is the only place, {groups} is each value with its places, {value} is the first value, {kinds} counts
// the values, {fastest} and {slowest} are places with their times, {meet} is a router.
type quorum map[string][2]string

// incomparable are the sentences of every tool.
var incomparable = quorum{
	"ONE":  {"info", "Only {one} gave a result, so there is nothing to compare it with."},
	"NONE": {"warn", "No place gave a result."},
}

// plain are those of a tool without sentences of its own.
var plain = quorum{
	"ALL_GOOD":        {"good", "{all} give the same result."},
	"ALL_GOOD_DIFFER": {"info", "The results differ between places. The table marks what differs."},
}

var quorums = map[string]quorum{
	"uptime": {
		"ALL_GOOD":        {"good", "Up from {all}."},
		"ALL_GOOD_DIFFER": {"info", "Up from {all}, but the answers differ: {groups}."},
		"ALL_BAD":         {"bad", "Down from {all}: the fault is likely at the site itself."},
		"MOST_GOOD":       {"warn", "Down from {few}, up from {rest}: the fault is likely on the way from {few}."},
		"MOST_BAD":        {"bad", "Up from {few} alone, down from {rest}: the fault is likely at the site or near it."},
		"SPLIT":           {"warn", "Down from {bad}, up from {good}: the fault may be at the site or on the way."},
	},
	"dns-lookup": {
		"ALL_GOOD": {"good", "{all} get the same answer from the DNS."},
		"ALL_GOOD_DIFFER": {"info", "{all} get {kinds} different answers from the DNS, as from a CDN or while a change " +
			"spreads."},
		"ALL_BAD":        {"bad", "The DNS has no answer for {all}."},
		"ALL_BAD_DIFFER": {"bad", "The DNS has no answer for {all}, for different reasons."},
		"MOST_GOOD": {"warn", "The DNS has no answer for {few}, and one for {rest}: a resolver or a name " +
			"server near {few} is likely outdated, filtered or failing."},
		"MOST_BAD": {"bad", "The DNS has an answer for {few} alone, and none for {rest}: it is likely an old " +
			"one, or meant for that place."},
		"SPLIT": {"warn", "The DNS has an answer for {good} and none for {bad}: a change may be spreading, or " +
			"servers answer by place."},
	},
	"dns-resolver-check": {
		"ALL_GOOD": {"good", "The public resolvers agree, and give {all} the same records."},
		"ALL_GOOD_DIFFER": {"info", "The public resolvers agree at each place, but give {kinds} different sets of " +
			"records by place, as for a CDN."},
		"ALL_BAD": {"bad", "The public resolvers do not agree, asked from {all}: the fault is likely at the " +
			"name servers."},
		"MOST_GOOD": {"warn", "The public resolvers do not agree when asked from {few}, and do from {rest}: " +
			"the fault is likely near {few}."},
		"MOST_BAD": {"warn", "The public resolvers agree when asked from {few} alone: a change is likely still " +
			"spreading."},
		"SPLIT": {"warn", "The public resolvers agree when asked from {good}, but not from {bad}: a change " +
			"may be spreading."},
	},
	"http-headers": {
		"ALL_GOOD":        {"good", "The server gives {all} the same status: {value}."},
		"ALL_GOOD_DIFFER": {"info", "The status depends on the place: {groups}."},
		"ALL_BAD": {"bad", "The server gives {all} the same error, {value}: the fault is likely at the server " +
			"itself."},
		"ALL_BAD_DIFFER": {"bad", "The server gives {all} an error, but not the same one: {groups}."},
		"MOST_GOOD": {"warn", "An error from {few} alone: {groups}. The server likely refuses visitors from " +
			"there, or another server answers."},
		"MOST_BAD": {"warn", "An error from all places but {few}: {groups}. The server likely admits some places " +
			"only."},
		"SPLIT": {"warn", "An error from {bad}, but not from {good}: {groups}. The server may answer by place."},
	},
	"ssl-checker": {
		"ALL_GOOD": {"good", "The same certificate from {all}, and it is trusted."},
		"ALL_GOOD_DIFFER": {"info", "Trusted certificates from {all}, but {kinds} different ones, as of several servers " +
			"or a CDN."},
		"ALL_BAD":        {"bad", "The same certificate from {all}, and it is not trusted: the fault is at the server."},
		"ALL_BAD_DIFFER": {"bad", "Certificates that are not trusted from {all}, {kinds} different ones."},
		"MOST_GOOD": {"bad", "The certificate is not trusted from {few}, and is from {rest}: another server " +
			"answers there, or something on the way."},
		"MOST_BAD": {"bad", "The certificate is trusted from {few} alone, and not from {rest}: the servers " +
			"likely have different certificates."},
		"SPLIT": {"bad", "The certificate is trusted from {good}, but not from {bad}: the servers likely have " +
			"different certificates."},
	},
	"port-checker": {
		"ALL_GOOD":       {"good", "Open from {all}."},
		"ALL_BAD":        {"bad", "The port is {value} from {all}: the cause is likely at the host or its own firewall."},
		"ALL_BAD_DIFFER": {"bad", "The port is not open from {all}: {groups}."},
		"MOST_GOOD": {"warn", "Not open from {few}, open from {rest}: a firewall or a fault on the way from " +
			"{few} is likely."},
		"MOST_BAD": {"info", "Open from {few} alone, not from {rest}: a firewall likely admits some networks only."},
		"SPLIT":    {"warn", "Open from {good}, but not from {bad}: a firewall likely admits some networks only."},
	},
	"ping": {
		"ALL_GOOD": {"good", "It answers {all}: the fastest answer is to {fastest}, the slowest to {slowest}."},
		"ALL_BAD":  {"bad", "It does not answer {all}: the host is down, or ignores echo requests."},
		"MOST_GOOD": {"warn", "It does not answer {few}, and answers {rest}: a fault or a firewall is " +
			"likely on the way from {few}."},
		"MOST_BAD": {"warn", "It answers {few} alone, and not {rest}: a firewall likely admits some networks only."},
		"SPLIT": {"warn", "It answers {good}, but not {bad}: a fault or a firewall may be on the way or at " +
			"the host."},
	},
	"traceroute": {
		"ALL_GOOD":      {"good", "The paths from {all} reach the destination and have no router in common."},
		"ALL_GOOD_JOIN": {"good", "The paths from {all} reach the destination and join at {meet}."},
		"ALL_GOOD_DIFFER": {"info", "The paths from {all} reach {kinds} different addresses, as of a CDN or several " +
			"servers."},
		"ALL_BAD": {"warn", "The paths from {all} do not reach the destination and have no router in common."},
		"ALL_BAD_JOIN": {"warn", "The paths from {all} do not reach the destination. The last router they have in " +
			"common is {meet}: the cause is likely behind it."},
		"MOST_GOOD": {"warn", "The destination is not reached from {few}, and is from {rest}: a fault or a " +
			"firewall on the way from {few} is likely."},
		"MOST_BAD": {"warn", "The destination is reached from {few} alone, not from {rest}: a firewall near it " +
			"likely admits some networks only."},
		"SPLIT": {"warn", "The destination is reached from {good}, but not from {bad}: a fault or a firewall " +
			"may be on the way or at the destination."},
	},
	"packet-loss": {
		"ALL_GOOD":  {"good", "No loss from {all}."},
		"ALL_BAD":   {"bad", "Loss from {all}: {groups}. The fault is likely at the host or near it."},
		"MOST_GOOD": {"warn", "Loss from {few}, none from {rest}: the fault is likely on the way from {few}."},
		"MOST_BAD": {"bad", "No loss from {few}, loss from {rest}: the fault is likely at the host or near " +
			"it."},
		"SPLIT": {"warn", "Loss from {bad}, none from {good}: the fault may be on the way or at the host."},
	},
}

// quorumOf are the sentences that a tool's page needs.
func quorumOf(slug string) quorum {
	all := maps.Clone(incomparable)
	own, has := quorums[slug]
	if !has {
		own = plain
	}
	maps.Copy(all, own)
	return all
}
