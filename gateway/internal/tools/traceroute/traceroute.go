// Package traceroute is the tool traceroute. It traces the path from the worker and adds the names and the networks of
// the public routers on it.
package traceroute

import (
	"context"
	_ "embed" // openapi.yaml
	"net/netip"
	"reflect"
	"slices"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/providers/asn"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/probing"
	"diagnostics/gateway/internal/tools/internal/reverse"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/shared/parallel"
	"diagnostics/shared/workerapi"
)

//go:embed openapi.yaml
var openAPI string

// hopNamesTime is how long a finished trace waits for the names and networks of its routers, all together.
const hopNamesTime = 300 * time.Millisecond

// Result is what the worker traced, with the names and networks of its hops, and what it comes to.
type Result struct {
	finding.Report
	workerapi.Traceroute
}

// New returns the tool. client resolves the target and the names of its routers, worker traces it, networks finds the
// AS of each router. A nil worker is one that is not enabled; without networks the routers have no AS.
func New(client *egress.Client, worker *workerclient.Client, networks *asn.Client) tool.Tool {
	return tool.New(tool.Spec[traceTarget, Result]{
		Slug:    "traceroute",
		Options: []tool.Option{probing.Family, optionProtocol, optionPort, optionMTU},
		OpenAPI: openAPI, Findings: rows,
		Worker: true,
		Parse:  parse,
		Run: func(ctx context.Context, t traceTarget) (Result, error) {
			job, err := probing.NewJob(ctx, client, worker, t.Target)
			if err != nil {
				return Result{}, err
			}
			job.Trace = t.probes
			traced, err := worker.Traceroute(ctx, job)
			if err != nil {
				return Result{}, err
			}
			result := word(traced)
			result.Target = t.String()
			if t.probes.MTU && result.MTU == nil {
				result.MTU = notMeasured()
			}
			describeHops(ctx, client, networks, result)
			return Result{conclude(result, traced.Facts), result}, nil
		},
		About: func(t traceTarget, r Result) bool { return probing.IsAbout(t.Target, r.Target, r.Address) },
		Steps: map[string]reflect.Type{
			"hop": reflect.TypeFor[workerapi.Hop](),
		},
		Adopt: func(r *Result) error {
			r.Raw = nil
			return nil
		},
	})
}

// describeHops fills in the reverse names and the networks of the hops that have an address of their own (the worker
// client has removed all that are not public). Results that do not come in time stay null.
func describeHops(ctx context.Context, client *egress.Client, networks *asn.Client, t workerapi.Traceroute) {
	var hops []*workerapi.Hop
	for i := range t.Hops {
		if h := &t.Hops[i]; !h.TargetAddress || h.Address == nil || *h.Address != t.Address {
			hops = append(hops, h)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, hopNamesTime)
	defer cancel()
	var both parallel.Group
	both.Go(func() { nameHops(ctx, client, hops) })
	if networks != nil {
		both.Go(func() { placeHops(ctx, networks, hops) })
	}
	both.Wait()
}

// placeHops fills in the network that announces each hop's address.
func placeHops(ctx context.Context, client *asn.Client, hops []*workerapi.Hop) {
	addresses := make([]netip.Addr, 0, len(hops))
	for _, hop := range hops {
		if a, ok := hopAddress(hop); ok && !slices.Contains(addresses, a) {
			addresses = append(addresses, a)
		}
	}
	origins := client.HopOrigins(ctx, addresses)
	for _, hop := range hops {
		a, _ := hopAddress(hop)
		if origin, known := origins[a]; known {
			network := &workerapi.HopASN{ASN: int(origin.ASN), Name: format.TextOrNull(origin.Name)}
			for _, other := range origin.Others {
				network.Others = append(network.Others, int(other))
			}
			hop.ASN = network
		}
	}
}

// hopAddress takes a pointer because the names are written to the same hops at the same time.
func hopAddress(hop *workerapi.Hop) (netip.Addr, bool) {
	if hop.Address == nil {
		return netip.Addr{}, false
	}
	a, err := netip.ParseAddr(*hop.Address)
	return a, err == nil
}

func nameHops(ctx context.Context, client *egress.Client, hops []*workerapi.Hop) {
	var lookups parallel.Group
	for _, hop := range hops {
		if address, ok := hopAddress(hop); ok {
			lookups.Go(func() { hop.Hostname, _ = reverse.Name(ctx, client, address) })
		}
	}
	lookups.Wait()
}

// The options that traceroute has beside those of all worker tools.
var (
	optionProtocol = tool.Option{
		Name:    "protocol",
		Doc:     "The kind of probe. Without raw sockets the worker can only trace with icmp, and any other is 502.",
		Values:  []string{workerapi.ProtocolICMP, workerapi.ProtocolUDP, workerapi.ProtocolTCP},
		Default: workerapi.ProtocolICMP,
	}
	optionPort = tool.Option{
		Name: "port",
		Doc: "The target's port that udp and tcp probes go to, the same for all of them; 33434 and 443 by " +
			"default. " +
			"It counts among the ports of the address that a client tries. Not with icmp.",
		Min: 1, Max: 65535,
	}
	optionMTU = tool.Option{
		Name: "mtu",
		Doc: "Also measure the path MTU with echo requests of up to 1,500 octets, at most 40 of them. The trace may take " +
			"10 s then.",
		Bool: true,
	}
)

// traceTarget is what a trace aims at, and with what probes.
type traceTarget struct {
	probing.Target
	probes workerapi.TraceOptions
}

func parse(in tool.Input) (traceTarget, error) {
	aim, err := probing.Parse(in)
	if err != nil {
		return traceTarget{}, err
	}
	protocol, err := optionProtocol.Choice(in.Options)
	if err != nil {
		return traceTarget{}, err
	}
	port, chosen, err := optionPort.Number(in.Options)
	if err != nil {
		return traceTarget{}, err
	}
	mtu, err := optionMTU.Flag(in.Options)
	if err != nil {
		return traceTarget{}, err
	}
	if protocol == workerapi.ProtocolICMP {
		if chosen {
			return traceTarget{}, fault.OfOption(optionPort.Name, "OPTION_PORT_WITHOUT_PROTOCOL", nil)
		}
		return traceTarget{Target: aim, probes: workerapi.TraceOptions{MTU: mtu}}, nil
	}
	probes := workerapi.TraceOptions{Protocol: protocol, Port: uint16(port), MTU: mtu} // #nosec G115 -- its Max
	probes, err = probes.Complete()
	if err != nil {
		return traceTarget{}, err
	}
	aim.Port = probes.Port
	return traceTarget{Target: aim, probes: probes}, nil
}
