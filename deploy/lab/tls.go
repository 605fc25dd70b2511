package lab

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"diagnostics/lab/internal/tlsserver"
)

// TLSZone is the domain of the TLS servers.
const TLSZone = tlsserver.Zone

// tlsNode is the node of the TLS servers.
const tlsNode = "tls"

func tlsAddress(n int) (v4, v6 netip.Addr) { return destination(tls4, n), destination(tls6, n) }

// TLSServers are the servers of internal/tlsserver. They have names and addresses in every lab, and run once
// StartTLSServers was called.
func (l *Lab) TLSServers() []tlsserver.Server { return slices.Clone(l.tls) }

// StartTLSServers runs the TLS servers whose programs this machine has, and waits until they answer. It names the
// programs that are missing.
func (l *Lab) StartTLSServers(ctx context.Context) (missing []string, err error) {
	missing = tlsserver.Missing(l.tls)
	all := slices.DeleteFunc(l.TLSServers(), func(s tlsserver.Server) bool { return slices.Contains(missing, s.Program) })
	running, err := tlsserver.Start(ctx, tlsserver.Place{
		Dir:    filepath.Join(l.Dir(), tlsNode),
		Listen: l.ns[tlsNode].Listen,
		Dial:   l.ns[tlsNode].DialContext,
		Run: func(name, program string, args ...string) error {
			path, err := exec.LookPath(program)
			if err != nil {
				return err
			}
			home := filepath.Join(l.Dir(), tlsNode)
			_, err = l.Start(tlsNode, name, []string{"HOME=" + home}, path, args...)
			return err
		},
	}, l.ca, all)
	if err != nil {
		return missing, err
	}
	l.onClose(running.Close)
	return missing, nil
}

// tlsRecords are the names of the TLS servers.
func tlsRecords(all []tlsserver.Server) (lines []string) {
	for _, s := range all {
		for _, a := range s.Addresses {
			kind := map[bool]string{true: "A", false: "AAAA"}[a.Is4()]
			lines = append(lines, fmt.Sprintf("%s. 300 IN %s %s", s.Host, kind, a))
		}
	}
	return lines
}

// tlsNames are the TLS servers for a person to try.
func tlsNames(all []tlsserver.Server) (names []Name) {
	for _, s := range all {
		names = append(names, Name{strings.TrimSuffix(s.Input(), ":443"), s.Note})
	}
	return names
}
