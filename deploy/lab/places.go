package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The hosts of two more places, each with an own way into the lab's internet and an own view of the DNS:
//
//	fra ─ f1 ═7═ c2 ─ edge1     f1 refuses what goes to Firewalled, the first clean destination
//	sin ─ s1 ═30═ c4            edge1 and edge2 have the same addresses
//	      └─ edge2
const (
	fra, fraRouter = "fra", "f1"
	sin, sinRouter = "sin", "s1"
	placePort      = 8443
)

// placeNames are the names of the places by host.
var placeNames = map[string]string{ServiceHost: "Amsterdam", fra: "Frankfurt", sin: "Singapore"}

// resolverOf is the resolver of each host that runs the service.
var resolverOf = map[string]string{
	ServiceHost: resolver4,
	fra:         destination(near4, 21).String(),
	sin:         destination(near4, 22).String(),
}

// Firewalled is a host with a web page that is refused from fra alone.
const Firewalled = "clean." + TransitZone

// anycast4 and anycast6 are ranges of two hosts, one of them beside sin: the nearest answers.
var anycast4, anycast6 = netip.MustParsePrefix("11.76.9.0/24"), netip.MustParsePrefix("2a10:76:9::/64")

// Anycast is the n-th address in them.
func Anycast(n int) (v4, v6 netip.Addr) { return destination(anycast4, n), destination(anycast6, n) }

// GeoName has an address of its own at each place.
const GeoName = "geo." + ResolveZone

var fraFilter = fmt.Sprintf(`
	chain places { type filter hook forward priority 0;
		ip daddr %s reject with icmpx admin-prohibited
		ip6 daddr %s reject with icmpx admin-prohibited
	}`, destination(clean4, 1), destination(clean6, 1))

func placeTopology() ([]node, []link) {
	return []node{
			host(fra, "11.76.1.2", "2a10:76:1::2"),
			withFilter(router(fraRouter, "11.76.1.1", "2a10:76:1::1", Answers), fraFilter),
			host(sin, "11.76.2.2", "2a10:76:2::2"),
			router(sinRouter, "11.76.2.1", "2a10:76:2::1", Answers),
			withLocal(host("edge1", "11.76.3.2", "2a10:76:3::2"), anycast4, anycast6),
			withLocal(host("edge2", "11.76.4.2", "2a10:76:4::2"), anycast4, anycast6),
		}, []link{
			{a: fra, b: fraRouter},
			{a: fraRouter, b: "c2", delay: 7 * time.Millisecond},
			{a: sin, b: sinRouter},
			{a: sinRouter, b: "c4", delay: 30 * time.Millisecond},
			{a: "edge1", b: "c2"},
			{a: "edge2", b: sinRouter},
		}
}

// Place is one more instance of the service, with a worker, elsewhere in the lab's internet.
type Place struct {
	*Service
	ID, Name string
	// Dir has the files of its listener for other places: token, cert.pem and key.pem.
	Dir string
	// Addr is where that listener is.
	Addr netip.AddrPort
}

// Places are all but that of the service's host.
type Places []*Place

// StartPlaces runs the service at two more places. The settings that it returns make a gateway of the service's host
// the third.
func (l *Lab) StartPlaces(ctx context.Context, opts ServiceOptions) (Places, []string, error) {
	var all Places
	var list []map[string]string
	for _, host := range []string{fra, sin} {
		p, err := l.startPlace(ctx, host, opts)
		if err != nil {
			return nil, nil, fmt.Errorf("place %s: %w", host, err)
		}
		all = append(all, p)
		list = append(list, map[string]string{"id": p.ID, "name": p.Name, "url": "https://" + p.Addr.String(),
			"tokenFile": filepath.Join(p.Dir, "token"), "caFile": filepath.Join(p.Dir, "cert.pem")})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(l.Dir(), "places.json")
	return all, []string{"PLACE_ID=ams", "PLACE_NAME=" + placeNames[ServiceHost], "PLACES_FILE=" + file},
		os.WriteFile(file, text, 0o600)
}

func (l *Lab) startPlace(ctx context.Context, host string, opts ServiceOptions) (*Place, error) {
	dir := filepath.Join(l.Dir(), "place-"+host)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	addr := netip.AddrPortFrom(l.graph.nodes[host].v4, placePort)
	env := []string{"PLACE_ID=" + host, "PLACE_NAME=" + placeNames[host], fmt.Sprint("PEER_LISTEN_ADDR=:", placePort),
		"PEER_TOKEN_FILE=" + dir + "/token", "PEER_TLS_CERT_FILE=" + dir + "/cert.pem",
		"PEER_TLS_KEY_FILE=" + dir + "/key.pem"}
	names := slices.Concat(env[3:], []string{"PEER_TLS_NAMES=" + addr.Addr().String()})
	initial, err := l.Start(host, host+"-init", names, opts.Gateway, "-init-place")
	if err != nil {
		return nil, err
	}
	if <-initial.Done(); initial.ExitCode() != 0 {
		return nil, errors.New(initial.Errors())
	}
	opts.GatewayEnv = slices.Concat(env, opts.GatewayEnv)
	s, err := l.startServiceAt(ctx, host, opts)
	return &Place{Service: s, ID: host, Name: placeNames[host], Dir: dir, Addr: addr}, err
}

// Restart runs the gateway of a place again after it has ended.
func (p *Place) Restart(ctx context.Context) (err error) {
	p.Gateway, err = p.RestartGateway(ctx, p.Gateway, p.Gateway.Process.Name(), p.opts.GatewayEnv...)
	return err
}
