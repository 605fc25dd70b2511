package tlsscan

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"diagnostics/shared/parallel"
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
	// Known is a version that the server is known to accept, 0 for none. With VersionsOnly it is not offered again.
	Known Version
	// ShortHellos offers less at once, for a server that answers no more than some 300 octets.
	ShortHellos bool
	// ConnTimeout is how long one connection may take, 4 s where it is 0.
	ConnTimeout time.Duration
	// OnVersion, where it is not nil, is called once it is known of a version whether it is accepted.
	OnVersion func(v Version, taken bool)
}

// defaultConnTimeout is long for a server that answers at all, and leaves time for others where it does not.
const defaultConnTimeout = 4 * time.Second

// Report is what a server takes.
type Report struct {
	// Versions has all of Versions as keys; nil is one that is not known.
	Versions map[Version]*bool
	// Suites are sorted by version, newest first; within a version as the server chose them one after another, or
	// strong ones first where its choices followed the order of the offer.
	Suites []Accepted
	// Groups are in the order of the server's choices, those of the newest version first. Finite-field groups are those
	// of TLS 1.3, and those of RFC 7919 whose primes an older version uses.
	Groups []uint16
	// DHBits is the size of the smallest prime that an older version than TLS 1.3 uses, 0 without finite-field DH.
	DHBits int
	// Complete reports that nothing was cut off or left unclear.
	Complete bool
}

// Accepted is a suite that the server takes in a version. Its strength is weak at best where the server's own prime for
// it is under 2,048 bits.
type Accepted struct {
	Version Version
	Suite   Suite
}

// weakPrime is the size under which finite-field DH is weak.
const weakPrime = 2048

// Run never fails: what is not known is nil or missing, and Complete is false. It returns when ctx ends at the
// latest. When connections run out, what matters most is known: versions first, then whether anything insecure is
// taken, the suites of TLS 1.3 and 1.2 (the groups of TLS 1.3 are probed meanwhile), the groups of TLS 1.2, and last
// the suites of older versions. Each suite and each group that is taken costs a connection: some 30 for a server of
// today, 50 for one of OpenSSL with its own defaults, over 100 for one that takes all there is.
func (s Scan) Run(ctx context.Context) Report {
	r := &run{Scan: s, found: map[Version]*taken{}}
	r.AtOnce = max(r.AtOnce, 1)
	if r.ConnTimeout == 0 {
		r.ConnTimeout = defaultConnTimeout
	}
	r.compact.Store(r.ShortHellos)
	for _, v := range Versions {
		r.found[v] = &taken{version: v, bits: map[uint16]int{}}
	}
	r.probeVersions(ctx)
	if !s.VersionsOnly {
		r.probeInsecure(ctx)
		r.probeSuites(ctx, TLS13, TLS12)
		found := r.probeOldGroups(ctx, TLS12)
		r.probeSuites(ctx, TLS11, TLS10, SSL30)
		if !found {
			r.probeOldGroups(ctx, TLS11, TLS10)
		}
	}
	return r.report()
}

// run is a scan that is under way.
type run struct {
	Scan

	found map[Version]*taken

	compact        atomic.Bool  // the server gives up on long hellos
	gotServerHello atomic.Bool  // it has answered with a ServerHello at all
	spent          atomic.Bool  // there are no more connections
	fails          atomic.Int32 // of the network, one after another
	unclear        atomic.Bool  // something was left so

	mu    sync.Mutex
	ffdhe []uint16 // groups of RFC 7919 whose primes were seen; mu is that of bits and leaf too
}

// taken is what is known of a version.
type taken struct {
	version Version
	yes     *bool
	refusal error

	// first is the answer by which the version is known to be taken.
	first flight
	// insecure is one that was chosen where nothing else was offered; noInsecure reports that none was.
	insecure   []Suite
	noInsecure bool

	chunks [][]Suite      // the suites, in the order in which the server chose them
	bits   map[uint16]int // the sizes of primes by suite

	groups []uint16
	leaf   []byte // the certificate that came with ECDSA
}

// each calls a function for every number under n, as many at once as there may be connections.
func (r *run) each(n int, f func(int)) { parallel.Each(n, r.AtOnce, f) }

// accepts reports whether a version is known to be taken.
func (t *taken) accepts() bool { return t.yes != nil && *t.yes }

func (r *run) report() Report {
	all := Report{Versions: map[Version]*bool{}, Complete: !r.unclear.Load() && !r.spent.Load()}
	for _, v := range Versions {
		t := r.found[v]
		all.Versions[v] = t.yes
		if t.yes == nil {
			all.Complete = false
		}
		if !t.accepts() {
			continue
		}
		for _, bits := range t.bits {
			if all.DHBits == 0 || bits < all.DHBits {
				all.DHBits = bits
			}
		}
		for _, suite := range t.suites() {
			all.Suites = append(all.Suites, Accepted{v, suite})
		}
		all.Groups = append(all.Groups, without(t.groups, all.Groups)...)
	}
	slices.Sort(r.ffdhe)
	all.Groups = append(all.Groups, without(slices.Compact(r.ffdhe), all.Groups)...)
	return all
}

// suites are those that are taken, in the order of the report.
func (t *taken) suites() []Suite {
	list := slices.Concat(t.chunks...)
	for _, suite := range t.insecure {
		if !slices.Contains(list, suite) {
			list = append(list, suite)
		}
	}
	if !slices.ContainsFunc(t.chunks, chosenByServer) {
		strongFirst(list)
	}
	for i, suite := range list {
		if bits := t.bits[suite.ID]; bits > 0 && bits < weakPrime && suite.Strength == Strong {
			list[i].Strength = Weak
		}
	}
	return list
}

// chosenByServer reports whether choices followed another order than that of the offer.
func chosenByServer(chunk []Suite) bool { return !slices.IsSortedFunc(chunk, compareRanks) }
