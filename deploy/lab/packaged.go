package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"diagnostics/lab/internal/authority"

	"github.com/miekg/dns"
)

// nameServerProgram is a name server as Debian packages it, with a signed and an unsigned zone.
type nameServerProgram struct {
	label, program string
	args           []string // DIR is its directory
	// file has config, in which V4, V6 and ALL are the addresses that it listens on, the separator between them, and then
	// zone for each ZONE.
	file, config, zone, separator string
	// prepare are commands to run before.
	prepare []string
}

var nameServerPrograms = []nameServerProgram{
	{label: "bind9", program: "named", args: []string{"-g", "-c", "DIR/named.conf"}, file: "named.conf", separator: "; ",
		config: `options { directory "DIR"; pid-file none; session-keyfile none; recursion no; dnssec-validation no;
listen-on { V4; }; listen-on-v6 { V6; }; };
controls { };
`, zone: `zone "ZONE" { type primary; file "DIR/ZONE.zone"; };
`},
	{label: "knot", program: "knotd", args: []string{"-c", "DIR/knot.conf"}, file: "knot.conf", separator: "@53, ",
		config: `server:
  rundir: "DIR"
  listen: [ ALL@53 ]
database:
  storage: "DIR"
template:
- id: default
  storage: "DIR"
  file: "%s.zone"
zone:
`, zone: `- domain: "ZONE"
`},
	{label: "nsd", program: "nsd", args: []string{"-d", "-c", "DIR/nsd.conf"}, file: "nsd.conf",
		separator: "\n  ip-address: ",
		config: `server:
  zonesdir: "DIR"
  username: ""
  pidfile: ""
  database: ""
  xfrdfile: "DIR/xfrd.state"
  zonelistfile: "DIR/zone.list"
  port: 53
  ip-address: ALL
remote-control:
  control-enable: no
`, zone: `zone:
  name: "ZONE"
  zonefile: "ZONE.zone"
`},
	{label: "pdns", program: "pdns_server", args: []string{"--config-dir=DIR"}, file: "pdns.conf", separator: ",",
		config: `launch=bind
bind-config=DIR/zones.conf
bind-dnssec-db=DIR/dnssec.db
socket-dir=DIR
daemon=no
guardian=no
local-address=ALL
`,
		prepare: []string{
			`printf 'zone "%s" { type native; file "DIR/%s.zone"; };\n' SIGNED SIGNED PLAIN PLAIN >DIR/zones.conf`,
			`pdnsutil --config-dir=DIR create-bind-db DIR/dnssec.db`,
			`pdnsutil --config-dir=DIR set-nsec3 SIGNED '1 0 0 -'`,
			`pdnsutil --config-dir=DIR set-presigned SIGNED`}},
}

// Packaged is a zone on a packaged name server.
type Packaged struct {
	Domain, Program string
	Truth           string // of DNSSEC
}

// PackagedZones are the zones on packaged name servers.
func PackagedZones() (list []Packaged) {
	for _, p := range nameServerPrograms {
		for i, z := range p.zones() {
			list = append(list, Packaged{z.Domain(), p.program, []string{Secure, Insecure}[i]})
		}
	}
	return list
}

func (p nameServerProgram) zones() []SignedZone {
	return []SignedZone{
		{label: p.label + "-signed", nsec3: &authority.NSEC3{}, networks: packagedNetworks},
		{label: p.label + "-plain", unsigned: true, networks: packagedNetworks},
	}
}

var packagedNetworks = []int{packagedNetwork, secondPackagedNetwork}

// publishPackaged delegates the zones of the packaged name servers, each at addresses of its own.
func (a *authorities) publishPackaged() error {
	for i, p := range nameServerPrograms {
		for _, s := range p.zones() {
			s.host = i + 1
			_, ds, err := s.make()
			if err != nil {
				return err
			}
			a.delegate(s.Domain(), s.delegation(ds)...)
		}
	}
	return nil
}

// withPackaged gives a node the addresses of the packaged name servers: BIND listens on addresses of interfaces alone.
func withPackaged(n node) node {
	for i := range nameServerPrograms {
		for _, network := range packagedNetworks {
			v4, v6 := nameServer(network, i+1)
			n.extra = append(n.extra, v4, v6)
		}
	}
	return n
}

// StartNameServers runs the packaged name servers that this machine has, and waits until they answer. It names the
// programs that are missing.
func (l *Lab) StartNameServers(ctx context.Context) (missing []string, err error) {
	for i, p := range nameServerPrograms {
		if _, err := exec.LookPath(p.program); err != nil {
			missing = append(missing, p.program)
			continue
		}
		if err := l.startNameServer(ctx, i+1, p); err != nil {
			return missing, fmt.Errorf("%s: %w", p.label, err)
		}
	}
	return missing, nil
}

func (l *Lab) startNameServer(ctx context.Context, host int, p nameServerProgram) error {
	dir := filepath.Join(l.Dir(), "names-"+p.label)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	zones := p.zones()
	for _, s := range zones {
		s.host = host
		z, _, err := s.make()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, s.Domain()+".zone"), []byte(z.String()), 0o644); err != nil {
			return err
		}
	}
	put := strings.NewReplacer("DIR", dir, "SIGNED", zones[0].Domain(), "PLAIN", zones[1].Domain())
	if err := os.WriteFile(filepath.Join(dir, p.file), []byte(put.Replace(p.settings(host))), 0o644); err != nil {
		return err
	}
	for _, command := range p.prepare {
		if _, err := l.Exec(ctx, namesNode, "sh", "-c", put.Replace(command)); err != nil {
			return err
		}
	}
	var args []string
	for _, arg := range p.args {
		args = append(args, put.Replace(arg))
	}
	path, err := exec.LookPath(p.program)
	if err != nil {
		return err
	}
	running, err := l.Start(namesNode, p.program, nil, path, args...)
	if err != nil {
		return err
	}
	v4, _ := nameServer(packagedNetwork, host)
	return l.answersFor(ctx, running, v4, zones[0].Domain())
}

// settings are the text of the program's file.
func (p nameServerProgram) settings(host int) string {
	var v4, v6 []string
	for _, network := range packagedNetworks {
		a, b := nameServer(network, host)
		v4, v6 = append(v4, a.String()), append(v6, b.String())
	}
	text := strings.NewReplacer("V4", strings.Join(v4, p.separator), "V6", strings.Join(v6, p.separator),
		"ALL", strings.Join(append(v4, v6...), p.separator)).Replace(p.config)
	for _, s := range p.zones() {
		text += strings.ReplaceAll(p.zone, "ZONE", s.Domain())
	}
	return text
}

// answersFor waits until a server answers for a zone.
func (l *Lab) answersFor(ctx context.Context, p *Process, at netip.Addr, domain string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		c, err := l.ns[namesNode].DialContext(ctx, "udp", net.JoinHostPort(at.String(), "53"))
		if err != nil {
			return err
		}
		q := new(dns.Msg).SetQuestion(domain+".", dns.TypeSOA)
		client := dns.Client{Timeout: 100 * time.Millisecond}
		m, _, err := client.ExchangeWithConnContext(ctx, q, &dns.Conn{Conn: c})
		_ = c.Close()
		if err == nil && m.Authoritative && len(m.Answer) > 0 {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-p.Done():
			return fmt.Errorf("it ended at its start: %s\n%s", p.Log(), p.Errors())
		case <-ctx.Done():
			return errors.New("it does not answer: " + p.Log() + "\n" + p.Errors())
		}
	}
}
