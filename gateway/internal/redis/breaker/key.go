package breaker

import (
	"crypto/sha256"
	"encoding/base64"
)

// Key returns the name of a stored value: the prefix, which separates the users of one server, and 43 characters of a
// hash, so that the keys do not show the clients' queries.
func Key(prefix, key string) string {
	sum := sha256.Sum256([]byte(key))
	return prefix + base64.RawURLEncoding.EncodeToString(sum[:])
}
