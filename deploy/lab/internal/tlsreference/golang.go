package tlsreference

import (
	"context"
	"crypto/tls"
	"net"
	"slices"

	"diagnostics/lab/internal/tlsserver"
)

// goGroups are the groups of Go by IANA's names; Debian's OpenSSL has none of the post-quantum ones.
var goGroups = map[tls.CurveID]string{
	tls.X25519MLKEM768: "X25519MLKEM768", tls.SecP256r1MLKEM768: "SecP256r1MLKEM768",
	tls.SecP384r1MLKEM1024: "SecP384r1MLKEM1024", tls.X25519: "x25519", tls.CurveP256: "secp256r1",
	tls.CurveP384: "secp384r1", tls.CurveP521: "secp521r1",
}

// GoGroups offers the groups with Go's own client, one at a time.
func GoGroups(
	ctx context.Context, dial func(ctx context.Context, network, address string) (net.Conn, error), s tlsserver.Server,
	address string,
) (groups []string) {
	for id, name := range goGroups {
		c, err := dial(ctx, "tcp", address)
		if err != nil {
			return nil
		}
		client := tls.Client(c, &tls.Config{ServerName: s.Host, CurvePreferences: []tls.CurveID{id},
			InsecureSkipVerify: true}) // #nosec G402 -- the certificate is for other references to judge
		if client.HandshakeContext(ctx) == nil {
			groups = append(groups, name)
		}
		_ = c.Close()
	}
	slices.Sort(groups)
	return groups
}
