package tlsprobe

import (
	"context"
	"time"
)

// Scan learns what a server takes.
type Scan struct {
	// Dial gives the connections, each of which the scan closes.
	Dial Dial
	// ServerName is sent as the name of the host (SNI), "" sends none.
	ServerName string
	// AtOnce is how many connections may be open at once, at least 1.
	AtOnce int
	// VersionsOnly leaves suites and groups out. It takes a connection a version, and more only where an answer is not
	// clear.
	VersionsOnly bool
	// Patience is how long one connection may take, 4 s where it is 0.
	Patience time.Duration
}

// Run never fails: what could not be told is nil or missing, and Complete is false. It returns when ctx ends at the
// latest. When connections run out, what matters most is known: versions first, then whether anything insecure is
// taken, the suites of TLS 1.3 and 1.2, groups, and last the suites of older versions.
func (s Scan) Run(ctx context.Context) Report {
	return Report{Versions: map[Version]*bool{}, Ordered: map[Version]bool{}, Refusals: map[Version]error{}}
}

// Report is what a server takes.
type Report struct {
	// Versions has all of Versions as keys; nil is one that could not be told.
	Versions map[Version]*bool
	// Suites are in the server's order of preference within a version where it has one, else strong ones first; newest
	// version first.
	Suites []Accepted
	// Ordered tells whether the server has an order of its own, for the versions where that could be told.
	Ordered map[Version]bool
	// Groups are in the server's order where it has one. Finite-field groups are those of TLS 1.3, and those of RFC 7919
	// that an older version uses.
	Groups []uint16
	// DHBits is the size of the smallest prime that was seen, 0 without finite-field DH.
	DHBits int
	// Complete tells that nothing was cut off or left unclear.
	Complete bool
	// Refusals says why a version is not known to be taken: an Alert, io.EOF, ErrOtherVersion, ErrNotTLS, a network
	// error, ErrSpent and so on.
	Refusals map[Version]error
}

// Accepted is a suite that the server takes in a version. Its strength is weak at best where the server's own prime for
// it is under 2,048 bits.
type Accepted struct {
	Version Version
	Suite   Suite
}
