// Package probing holds what the three worker tools share: the option family, and the choice of the address that the
// worker probes.
package probing

import (
	"context"
	"net/netip"
	"reflect"
	"slices"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/workerclient"
	"diagnostics/shared/parallel"
	"diagnostics/shared/workerapi"
)

// The option that the three worker tools take, and its values.
const (
	familyAuto = "auto"
	familyIPv4 = "ipv4"
	familyIPv6 = "ipv6"
)

// Family is the option that all worker tools have.
var Family = tool.Option{
	Name: "family", Doc: "The address family to probe. auto is IPv4 where target and worker both have it.",
	Values: []string{familyAuto, familyIPv4, familyIPv6}, Default: familyAuto,
}

// Target is what a worker tool aims at, with the family to probe it over.
type Target struct {
	target.Host
	// Port is that of the target which the probes go to; 0 where they go to none.
	Port   uint16
	family string
}

// Parse is the Parse of the three worker tools.
func Parse(in tool.Input) (Target, error) {
	host, err := target.ParseHost(in.Text)
	if err != nil {
		return Target{}, err
	}
	family, err := Family.Choice(in.Options)
	if err != nil {
		return Target{}, err
	}
	if host.IsAddr() && family != familyAuto && titles[family] != workerapi.FamilyName(host.Addr()) {
		return Target{}, fault.OfOption(Family.Name, "ADDRESS_OF_OTHER_FAMILY",
			finding.Args{"host": host.String(), "family": titles[family]})
	}
	return Target{Host: host, family: family}, nil
}

// titles are the families as sentences write them.
var titles = map[string]string{familyIPv4: "IPv4", familyIPv6: "IPv6"}

// NewJob resolves the target and chooses the address that the worker probes. The address families that this host lacks
// do not matter: the packets leave from the worker. Address and port are charged. Errors are *fault.Error.
func NewJob(
	ctx context.Context, client *egress.Client, worker *workerclient.Client, t Target,
) (workerclient.Job, error) {
	if worker == nil {
		return workerclient.Job{}, fault.New(fault.NotEnabled, "TOOL_WITHOUT_WORKER", nil)
	}
	asking, leave := context.WithCancel(ctx)
	defer leave()
	families := parallel.Start(func() []int { return workerFamilies(asking, worker) })
	resolution, err := client.Resolve(ctx, t.Host)
	if err != nil {
		leave()
		families.Wait()
		return workerclient.Job{}, err
	}
	address, err := chooseAddress(t, resolution.V4, resolution.V6, families.Wait())
	if err != nil {
		return workerclient.Job{}, err
	}
	if err := client.Charge(ctx, netip.AddrPortFrom(address, t.Port)); err != nil {
		return workerclient.Job{}, err
	}
	caller := tool.CallerOf(ctx)
	return workerclient.Job{Address: address, Hostname: t.Name(), RequestID: caller.RequestID, Client: caller.Client,
		Network: caller.Network, Place: caller.Place}, nil
}

// New returns the tool of a job that the worker runs. client resolves the target, ask runs the job at the worker, and
// report converts the worker's result, with the target as it was entered; ping returns that part of R again. A nil
// worker is one that is not enabled.
func New[T, R any](
	slug, openAPI string, rows finding.Rows, client *egress.Client, worker *workerclient.Client,
	ask func(*workerclient.Client, context.Context, workerclient.Job) (T, error), report func(T, string) R,
	ping func(*R) *workerapi.Ping,
) tool.Tool {
	return tool.New(tool.Spec[Target, R]{
		Slug:     slug,
		Options:  []tool.Option{Family},
		OpenAPI:  openAPI,
		Findings: rows,
		Worker:   true,
		Parse:    Parse,
		Run: func(ctx context.Context, t Target) (none R, err error) {
			job, err := NewJob(ctx, client, worker, t)
			if err != nil {
				return none, err
			}
			result, err := ask(worker, ctx, job)
			if err != nil {
				return none, err
			}
			return report(result, t.String()), nil
		},
		Steps: map[string]reflect.Type{"reply": reflect.TypeFor[workerapi.Reply]()},
		About: func(t Target, r R) bool { return IsAbout(t, ping(&r).Target, ping(&r).Address) },
		Adopt: func(r *R) error {
			ping(r).Raw = nil
			return nil
		},
	})
}

// IsAbout reports whether a result with this target and address can be that of t.
func IsAbout(t Target, target, address string) bool {
	return target == t.String() && (!t.IsAddr() || address == t.Addr().String())
}

// workerFamilies returns the families of the worker. Where they are not known, both are assumed: the job itself then
// reports what is wrong.
func workerFamilies(ctx context.Context, worker *workerclient.Client) []int {
	ready, err := worker.Ready(ctx)
	if err != nil {
		return []int{4, 6}
	}
	return ready.Families
}

// chooseAddress takes the first address of the wanted family; auto is IPv4 where target and worker both have it, else
// IPv6.
func chooseAddress(t Target, v4, v6 []netip.Addr, worker []int) (netip.Addr, error) {
	has4, has6 := slices.Contains(worker, 4), slices.Contains(worker, 6)
	switch {
	case t.family == familyIPv4 && len(v4) == 0, t.family == familyIPv6 && len(v6) == 0:
		return netip.Addr{}, fault.OfOption(Family.Name, "NO_ADDRESS",
			finding.Args{"host": t.Short(), "family": titles[t.family]})
	case t.family != familyIPv6 && len(v4) > 0 && has4:
		return v4[0], nil
	case t.family != familyIPv4 && len(v6) > 0 && has6:
		return v6[0], nil
	case t.family != familyAuto:
		return netip.Addr{}, fault.New(fault.Upstream, "WORKER_NO_FAMILY", finding.Args{"family": titles[t.family]})
	}
	only := familyIPv4
	if len(v4) == 0 {
		only = familyIPv6
	}
	return netip.Addr{}, fault.New(fault.Upstream, "WORKER_NO_FAMILY",
		finding.Args{"family": titles[only], "host": t.Short()})
}
