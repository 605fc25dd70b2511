package sslchecker

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

// Manners towards a server that is probed.
const (
	// maxConnections is for a whole run, and maxAtOnce for what is open at once.
	maxConnections = 60
	maxAtOnce      = 4
	// maxProbing is how long the probing may take, and atTheEnd what it leaves of a run's time.
	maxProbing = 12 * time.Second
	atTheEnd   = 1500 * time.Millisecond
	// probeBuffer is what a server may send ahead of a probe that reads its first words and leaves.
	probeBuffer = 8 << 10
	// bytesAtTheEnd are what it leaves of the bytes that a run may send, for the handshakes that follow.
	bytesAtTheEnd = 8 << 10
	// price is what a run that probes charges its target, beside the one request that every run does.
	price = 9
	// keepProbed is how long what was learnt is shared, and keepCut where something is missing in it: asking again at
	// once would cost the server as much.
	keepProbed = 5 * time.Minute
	keepCut    = 30 * time.Second
)

// probed is what a server takes, as it is shared between runs.
type probed struct {
	Versions map[tlsscan.Version]bool `json:"versions"` // those that could be found out
	Suites   []probedSuite            `json:"suites"`
	Groups   []uint16                 `json:"groups"`
	DHBits   int                      `json:"dhBits"`
	Complete bool                     `json:"complete"`
	// Dialogues are those of STARTTLS.
	Dialogues dialogues `json:"dialogues"`
}

// probedSuite is one that is taken in a version. Its strength may be less than the suite's own.
type probedSuite struct {
	Version  tlsscan.Version  `json:"version"`
	ID       uint16           `json:"id"`
	Strength tlsscan.Strength `json:"strength"`
}

// newShared makes what keeps the results of probing.
func newShared(store cache.Store) *cache.Loading[probed] {
	return cache.NewLoading[probed](store, "tls-probe", keepProbed)
}

// plausible reports whether a scan can have found this; the store is not trusted.
func (p probed) plausible() bool {
	return len(p.Versions) <= len(tlsscan.Versions) && len(p.Suites) <= maxSuites && len(p.Groups) <= maxGroups &&
		len(p.Dialogues.Line) <= maxLine
}

// More than a probing finds with its connections.
const (
	maxSuites = 512
	maxGroups = 128
)

func probedOf(report tlsscan.Report) probed {
	p := probed{
		Versions: map[tlsscan.Version]bool{},
		Groups:   report.Groups[:min(len(report.Groups), maxGroups)],
		DHBits:   report.DHBits,
		Complete: report.Complete,
	}
	for version, taken := range report.Versions {
		if taken != nil {
			p.Versions[version] = *taken
		}
	}
	for _, s := range report.Suites[:min(len(report.Suites), maxSuites)] {
		p.Suites = append(p.Suites, probedSuite{s.Version, s.Suite.ID, s.Suite.Strength})
	}
	return p
}

// probe learns what one address takes, or is given what another run has learnt within minutes. Its error is a refusal
// by the limits of the target, before anything was sent, or the end of the run. Where the time is up nothing is known.
func (i *inspection) probe(ctx context.Context, v *attempt) (probed, error) {
	within := i.timeLeft(ctx)
	limited, cancel := context.WithTimeout(ctx, max(within, 0))
	defer cancel()
	at := netip.AddrPortFrom(v.address, i.to.Port)
	var counted tally
	scan := i.scanOf(v, at, &counted)
	entry, err := i.shared.Get(limited, at.String()+"|"+i.to.Host.Name(), probed.plausible,
		func(ctx context.Context) (probed, time.Duration, error) {
			if err := tool.ChargeTarget(ctx, price); err != nil {
				return probed{}, 0, err
			}
			ctx, cancel := context.WithTimeout(ctx, within)
			defer cancel()
			scan.OnVersion = func(v tlsscan.Version, taken bool) {
				progress.Report(ctx, "protocol", v.String(), protocolStep{v.String(), taken})
			}
			found := probedOf(i.scan(ctx, scan))
			found.Dialogues = counted.sum()
			if !found.Complete {
				return found, keepCut, nil
			}
			return found, keepProbed, nil
		})
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return probed{}, nil
	}
	return entry.Value, endOr(ctx, err)
}

// protocolStep is a version, sent while the suites are scanned.
type protocolStep struct {
	Protocol string `json:"protocol" wire:"enum=SSLv3|TLSv1.0|TLSv1.1|TLSv1.2|TLSv1.3"`
	Accepted bool   `json:"accepted"`
}

// timeLeft is how long a next step may take that leaves the run its end.
func (i *inspection) timeLeft(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return i.probing
	}
	return min(i.probing, time.Until(deadline)-atTheEnd)
}

// scanOf is the probing of one address, with what connections the rest of the run leaves it.
func (i *inspection) scanOf(v *attempt, at netip.AddrPort, counted *tally) tlsscan.Scan {
	scan := tlsscan.Scan{
		ServerName: i.to.Host.Name(), AtOnce: maxAtOnce - i.attempts.Running, ConnTimeout: i.probing / 3,
		ShortHellos: v.helloTooLong, Known: tlsscan.Version(v.seen.state.Version),
	}
	var left atomic.Int64
	left.Store(maxConnections - i.connections.Load() - int64(i.attempts.Running*maxPerAddress+maxOthers))
	mail := isMail(at.Port())
	if mail {
		scan.AtOnce, scan.VersionsOnly = 1, true
	}
	scan.Dial = func(ctx context.Context) (net.Conn, error) {
		if traffic.Room(ctx, bytesAtTheEnd) != nil || !mail && left.Add(-1) < 0 || mail && !i.mayConnect() {
			return nil, tlsscan.ErrSpent
		}
		conn, err := i.egress.Dial(egress.WithReceiveBuffer(ctx, probeBuffer), at)
		if fault.Is(err, fault.Limited) {
			return nil, errors.Join(tlsscan.ErrSpent, err)
		}
		if err != nil {
			counted.add(err)
			return nil, err
		}
		return beginTLS(ctx, conn, at.Port(), counted)
	}
	return scan
}

// beginTLS does STARTTLS where the port has it. A server that turns the connection away gets no more of them.
func beginTLS(ctx context.Context, conn net.Conn, port uint16, counted *tally) (net.Conn, error) {
	protocol, later := starttlsByPort[port]
	if !later {
		return conn, nil
	}
	defer parallel.Interrupt(ctx, conn)()
	err := startTLS(conn, protocol)
	counted.add(err)
	if err == nil {
		return conn, nil
	}
	_ = conn.Close()
	if errors.Is(err, errStarttlsRejected) {
		err = errors.Join(tlsscan.ErrSpent, err)
	}
	return nil, err
}

// maxPerAddress is the most connections that one address is asked for its certificates with.
const maxPerAddress = 8

// cipher names a cipher suite as OpenSSL and as IANA do; Bits is its strength as OpenSSL counts it.
type cipher struct {
	Name         string `json:"name"`
	StandardName string `json:"standardName"`
	Bits         int    `json:"bits"`
}

// everySuite is what the handshakes offer: the insecure suites too, since a server that has no others is to be shown
// and not missed.
func everySuite() []uint16 {
	var ids []uint16
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		ids = append(ids, suite.ID)
	}
	return ids
}

func describeCipher(id uint16) cipher {
	suite, _ := tlsscan.SuiteByID(id)
	return cipher{Name: cmp.Or(suite.OpenSSL, suite.Name), StandardName: suite.Name, Bits: suite.Bits}
}

// curveNames are the usual names of the key exchange groups that Go names otherwise.
var curveNames = map[tls.CurveID]string{tls.CurveP256: "P-256", tls.CurveP384: "P-384", tls.CurveP521: "P-521"}

// describeKeyExchange names the group of an ephemeral exchange, or the kind of exchange where there is none: RSA, where
// the server's key itself transports the secret. A handshake that broke off before its group was known has none.
func describeKeyExchange(seen observation) string {
	suite, _ := tlsscan.SuiteByID(seen.state.CipherSuite)
	group := seen.state.CurveID
	if group == 0 {
		return cmp.Or(strings.NewReplacer("(", "", ")", "").Replace(suite.KeyExchange), "unknown")
	}
	if name, ok := curveNames[group]; ok {
		return name
	}
	if strings.HasPrefix(group.String(), "CurveID(") {
		return tlsscan.GroupName(uint16(group))
	}
	return group.String()
}

// exchangeOf is what the handshake used the certificate's key for.
func exchangeOf(seen observation) certs.KeyExchange {
	suite, _ := tlsscan.SuiteByID(seen.state.CipherSuite)
	return certs.ExchangeOf(suite.Name)
}

// hasForwardSecrecy reports whether recorded traffic stays secret when the server's key leaks later.
func hasForwardSecrecy(suite tlsscan.Suite) bool {
	return strings.Contains(suite.KeyExchange, "DHE") || suite.KeyExchange == "SRP"
}

// protocolName gives the name of a version as OpenSSL and Node write it.
func protocolName(version uint16) string { return tlsscan.Version(version).String() }

// suite is a cipher suite that a server takes.
type suite struct {
	Protocol    string           `json:"protocol" wire:"enum=SSLv3|TLSv1.0|TLSv1.1|TLSv1.2|TLSv1.3"`
	Name        string           `json:"name"`
	Strength    tlsscan.Strength `json:"strength" wire:"enum=strong|weak|insecure"`
	KeyExchange string           `json:"keyExchange"`
}

// suites are the suites as the answer lists them, in the server's order.
func (p probed) suites() []suite {
	list := []suite{}
	for _, s := range p.Suites {
		known, _ := tlsscan.SuiteByID(s.ID)
		list = append(list, suite{s.Version.String(), known.Name, s.Strength, known.KeyExchange})
	}
	return list
}

// groups are the groups by the names of IANA.
func (p probed) groups() []string {
	list := []string{}
	for _, id := range p.Groups {
		list = append(list, tlsscan.GroupName(id))
	}
	return list
}

// supported returns for every version whether it is accepted, nil where that is not known. chosen is one that is.
func (p probed) supported(chosen uint16) map[string]*bool {
	all := make(map[string]*bool, len(tlsscan.Versions))
	for _, version := range tlsscan.Versions {
		taken, known := p.Versions[version]
		taken = taken || uint16(version) == chosen
		all[version.String()] = nil
		if known || taken {
			all[version.String()] = &taken
		}
	}
	return all
}
