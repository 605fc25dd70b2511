package breaker

import (
	"errors"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// cannotServe are the codes of replies that apply to every such command until Redis is repaired. All others (WRONGTYPE,
// NOSCRIPT, a plain ERR) concern the one command, and Redis works. A reply's code is its first word, which the protocol
// reserves for programs; the driver has types for some codes, but not for MISCONF and BUSY.
var cannotServe = []string{
	"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS",
	"OOM", "MISCONF", "BUSY", "NOAUTH", "WRONGPASS", "NOPERM",
}

// isOutage reports whether a failed call means that Redis cannot serve. Whatever is not a reply of Redis is: a timeout,
// a refused or broken connection, no connection free in time, an answer that is not the protocol.
func isOutage(err error) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return true
	}
	code, text, _ := strings.Cut(reply.Error(), " ")
	return slices.Contains(cannotServe, code) || code == "ERR" && isOutageInside(text)
}

// isOutageInside reports whether the text of an ERR, which has no code of its own, means an outage: too many clients,
// or the error that a script quotes, as in "Error running script …: -OOM command not allowed" of Redis 6.
func isOutageInside(text string) bool {
	return strings.HasPrefix(text, "max number of clients") ||
		slices.ContainsFunc(cannotServe, func(code string) bool { return strings.Contains(text, "-"+code+" ") })
}
