package registry

import "time"

// KeepFound is how long a registration is kept, KeepOther how long every other answer is. Failures are not kept, unless
// a client says so.
const (
	KeepFound = time.Hour
	KeepOther = time.Minute
)

// Keep returns how long an answer is kept.
func Keep(found bool) time.Duration {
	if found {
		return KeepFound
	}
	return KeepOther
}

// Unchanged reports whether read returns each text as it is; nil ones pass. A store may be shared, and another writer
// can write anything: what is kept is read again as a server's own answer is.
func Unchanged(read func(string) string, texts ...*string) bool {
	for _, s := range texts {
		if s != nil && (*s == "" || read(*s) != *s) {
			return false
		}
	}
	return true
}
