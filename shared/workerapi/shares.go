package workerapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Shares of a worker's slots, so that a few visitors cannot hold them all, whichever gateways they come through.
const (
	clientFraction = 16
	groupFraction  = 4
	leastShare     = 3 // what the pages run at once for one visitor
)

// ClientShare is how many of the slots one Client holds at most.
func ClientShare(slots int) int { return max(leastShare, slots/clientFraction) }

// GroupShare is how many of the slots one Group holds at most.
func GroupShare(slots int) int { return max(leastShare, slots/groupFraction) }

// pseudonymOctets leaves collisions between a worker's few jobs out of question, and keeps bodies short.
const pseudonymOctets = 16

// Pseudonym gives the Client or the Group of a Request for what names them at the gateway. It is keyed with the token,
// so that all gateways that send the same token agree and nobody else can tell who it is: while a token is rotated, a
// Client or a Group has two shares. kind ("client", "group") keeps the two apart. An empty name has
// none.
func Pseudonym(token, kind, name string) string {
	if name == "" {
		return ""
	}
	h := hmac.New(sha256.New, []byte(token))
	// The kinds hold no NUL, so no two pairs are the same octets.
	h.Write([]byte(kind + "\x00" + name))
	return hex.EncodeToString(h.Sum(nil)[:pseudonymOctets])
}

// maxPseudonym leaves room for longer ones of gateways to come.
const maxPseudonym = 64

// ValidPseudonym reports whether a worker takes s as a Client or a Group: at most 64 printable ASCII characters without
// spaces; empty stands for none.
func ValidPseudonym(s string) bool {
	return len(s) <= maxPseudonym && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
