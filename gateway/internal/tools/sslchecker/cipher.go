package sslchecker

import (
	"cmp"
	"crypto/tls"
	"slices"
	"strings"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/tlsscan"
)

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

// hasForwardSecrecy reports whether recorded traffic stays closed to whoever gets the server's key later.
func hasForwardSecrecy(suite tlsscan.Suite) bool {
	return strings.Contains(suite.KeyExchange, "DHE") || suite.KeyExchange == "SRP"
}

// protocolName gives the name of a version as OpenSSL and Node write it.
func protocolName(version uint16) string { return tlsscan.Version(version).String() }

// suite is a cipher suite that a server takes.
type suite struct {
	Protocol    string           `json:"protocol"`
	Name        string           `json:"name"`
	Strength    tlsscan.Strength `json:"strength"`
	KeyExchange string           `json:"keyExchange"`
}

// suites are the suites as the answer tells them, in the server's order.
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

// supported tells of every version whether it is taken, nil where that is not known. chosen is one that is.
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
