package breaker

import (
	"crypto/sha256"
	"encoding/base64"
)

// Key is the name under which something is kept: the prefix, which keeps users of one server apart, and 43 characters
// of a hash, so that the server's keys do not show which client asked for what.
func Key(prefix, key string) string {
	sum := sha256.Sum256([]byte(key))
	return prefix + base64.RawURLEncoding.EncodeToString(sum[:])
}
