package registry

import "time"

// A registration is kept for KeepFound, every other answer for KeepOther. A client that keeps failures says so itself.
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
