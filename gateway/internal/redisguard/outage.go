package redisguard

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// cannotServe are the codes of replies that say: not this command but every one like it, until somebody mends something.
// All others (WRONGTYPE, NOSCRIPT, a plain ERR) blame the command, and Redis itself is well.
var cannotServe = []string{
	"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS",
	"OOM", "MISCONF", "BUSY", "NOAUTH", "WRONGPASS", "NOPERM", "ERR max number of clients",
}

// isOutage tells whether a failed call means that Redis cannot serve. Whatever is not a reply of Redis is: a timeout, a
// refused or broken connection, no connection free in time, an answer that is not the protocol.
func isOutage(err error) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return true
	}
	for _, code := range cannotServe {
		// Redis 6 quotes an error inside a script as "ERR Error running script …: -OOM command not allowed".
		if strings.HasPrefix(reply.Error(), code) || strings.Contains(reply.Error(), "-"+code+" ") {
			return true
		}
	}
	return false
}
