package lab

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"diagnostics/lab/internal/site"
	"diagnostics/lab/internal/tlsserver"
	"diagnostics/lab/internal/zone"

	"github.com/miekg/dns"
)

// RootsFile is the lab's trusted root, for SSL_CERT_FILE.
func (l *Lab) RootsFile() string { return filepath.Join(l.Dir(), "root.pem") }

// Resolver is the operator's resolver, for DNS_RESOLVERS.
func (l *Lab) Resolver() netip.Addr { return netip.MustParseAddr(resolver4) }

// Script makes the resolvers of the lab answer for a name as the steps say; see Step.
func (l *Lab) Script(name string, steps ...Step) { l.table.Script(name, steps...) }

// ScriptAt is Script for one of PublicResolvers alone.
func (l *Lab) ScriptAt(id, name string, steps ...Step) { l.public[id].Script(name, steps...) }

// Publish adds records in zone-file spelling to what the resolvers of the lab answer.
func (l *Lab) Publish(lines ...string) error { return l.table.Add(lines...) }

// ServeDNS answers queries to an address beside the resolver, until the lab ends.
func (l *Lab) ServeDNS(address string, h dns.Handler) error {
	servers := &zone.Servers{}
	l.onClose(servers.Close)
	return servers.ServeHandler(l.ns[NearHost], address, false, h)
}

// Certificate makes a certificate of the lab's authority, for a server of a test.
func (l *Lab) Certificate(o site.Order) (tls.Certificate, error) { return l.ca.Make(o) }

// Site is the server of a label, such as "fast", or of a whole name. Labels are literals of the tests, which use the
// answer within an expression: one that the catalogue lacks is a mistake in the test, and panics.
func (l *Lab) Site(label string) site.Site {
	for _, s := range l.catalogue {
		if s.Host == label || s.Host == label+"."+site.Zone {
			return s
		}
	}
	panic("the lab has no site " + label)
}

// Sites are all of the catalogue.
func (l *Lab) Sites() []site.Site { return slices.Clone(l.catalogue) }

func (l *Lab) startServers(context.Context) error {
	ca, err := site.NewCA()
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.RootsFile(), ca.RootPEM(), 0o644); err != nil {
		return err
	}
	l.ca, l.catalogue, l.tls = ca, site.Catalogue(webAddress), tlsserver.Table(tlsAddress)
	if l.examples {
		l.catalogue = append(l.catalogue, site.ExampleSites(webAddress)...)
	}
	if err := l.startDNS(); err != nil {
		return err
	}
	if err := l.startAuthorities(); err != nil {
		return err
	}
	servers, err := site.Start(l.ns["web"].Listen, ca, l.catalogue)
	if err != nil {
		return err
	}
	l.onClose(servers.Close)
	return l.startDestinations(ca)
}

func webAddress(n int) (v4, v6 netip.Addr) {
	a := web4.Addr().As4()
	a[3] = byte(n)
	b := web6.Addr().As16()
	b[14], b[15] = byte(n>>8), byte(n)
	return netip.AddrFrom4(a), netip.AddrFrom16(b)
}

func (l *Lab) startDNS() error {
	l.table = zone.NewTable(nil)
	if err := l.table.Add(records(l.graph, l.catalogue)...); err != nil {
		return err
	}
	scriptNames(l.table)
	announce(l.table)
	if err := nameAddresses(l.table); err != nil {
		return err
	}
	if err := l.table.Add(tlsRecords(l.tls)...); err != nil {
		return err
	}
	if err := publishHeavy(l.table); err != nil {
		return err
	}
	if err := publishMail(l.table); err != nil {
		return err
	}
	if l.examples {
		if err := l.table.Add(exampleRecords()...); err != nil {
			return err
		}
	}
	servers := &zone.Servers{}
	l.onClose(servers.Close)
	if err := servers.Serve(l.ns[NearHost], l.table, resolver4, resolver6); err != nil {
		return err
	}
	public := map[string]*zone.Table{}
	for id, addresses := range PublicResolvers {
		t := zone.NewTable(l.table)
		public[id] = t
		if err := servers.Serve(l.ns["pub"], t, addresses[0].String(), addresses[1].String()); err != nil {
			return err
		}
	}
	l.public = maps.Clone(public)
	for _, host := range []string{fra, sin} {
		public[host] = zone.NewTable(l.table)
		if err := servers.Serve(l.ns[NearHost], public[host], resolverOf[host]); err != nil {
			return err
		}
	}
	public[own], public[secondOwn] = zone.NewTable(l.table), zone.NewTable(l.table)
	divide(l.table, public)
	return serveOwn(servers, l.ns[NearHost], public)
}

// startDestinations puts a web page on the ends of the paths, and on the public resolvers' addresses, which the hostile
// names of the tests mix with private ones: what reached them is then seen to have been let through.
func (l *Lab) startDestinations(ca *site.CA) error {
	pages := map[string][]netip.Addr{
		"far":  {destination(clean4, 1), destination(clean6, 1)},
		"wild": {destination(wild4, 1), destination(wild6, 1)},
	}
	for _, both := range PublicResolvers {
		pages["pub"] = append(pages["pub"], both[:]...)
	}
	sites := map[string][]site.Site{}
	for node, addresses := range pages {
		for _, a := range addresses {
			sites[node] = append(sites[node], site.Page(net.JoinHostPort(a.String(), "80"), a))
		}
	}
	for _, a := range []netip.Addr{destination(mute4, 1), destination(mute6, 1)} {
		sites["mute"] = append(sites["mute"], site.SecurePage("noecho."+TransitZone, a))
	}
	for node, all := range sites {
		servers, err := site.Start(l.ns[node].Listen, ca, all)
		if err != nil {
			return err
		}
		l.onClose(servers.Close)
	}
	return nil
}

// writeResolvConf makes ip-netns(8) give the lab's resolver to what it runs in the namespace of a host of the service.
func (l *Lab) writeResolvConf() error {
	for host, resolver := range resolverOf {
		dir := filepath.Join("/etc/netns", l.Namespace(host))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		text := fmt.Sprintf("nameserver %s\noptions timeout:2 attempts:2\n", resolver)
		if err := os.WriteFile(filepath.Join(dir, "resolv.conf"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// NewRevoker makes an authority below the lab's root that publishes what it has revoked, for the servers of a test.
func (l *Lab) NewRevoker(organization string, lists ...string) (*site.Revoker, error) {
	return l.ca.NewRevoker(organization, lists...)
}
