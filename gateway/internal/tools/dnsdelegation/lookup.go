package dnsdelegation

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"diagnostics/shared/parallel"

	"github.com/miekg/dns"
)

// found is what a lookup of a name server's addresses gave.
type found struct {
	addresses []netip.Addr
	alias     bool
	err       error // nil where the answer is authoritative, an absence included
	// partial is set where the lookup of one family failed and the other has addresses.
	partial bool
}

var (
	errDeep   = errors.New("too many levels of name servers in other zones")
	errCircle = errors.New("its address depends on itself")
)

// lookup finds the addresses of a name server from the root down. The chain are the names whose lookups need this one.
func (r *run) lookup(ctx context.Context, name string, chain []string) found {
	switch {
	case slices.Contains(chain, name):
		return found{err: errCircle}
	case len(chain) == maxDepth:
		r.budget.exceeded()
		return found{err: errDeep}
	}
	chain = append(slices.Clone(chain), name)
	z, err := r.root(ctx)
	if err != nil {
		return found{err: err}
	}
	for {
		if !z.registry {
			return r.hostAddresses(ctx, z.cut, name, chain)
		}
		next, denied, err := r.step(ctx, z, name, r.lightly)
		switch {
		case err != nil:
			return found{err: err}
		case next == nil && denied.Rcode == dns.RcodeNameError:
			return found{}
		case next == nil:
			return r.addressesAt(ctx, z.name, r.registryEndpoints(ctx, z.cut), name)
		}
		z = next
	}
}

// hostAddresses queries the servers of a zone for the addresses of a name, and goes down with their referrals.
func (r *run) hostAddresses(ctx context.Context, c cut, name string, chain []string) found {
	for range maxLabels {
		endpoints := r.lightEndpoints(ctx, c, false, chain)
		got, err := r.once(ctx, memo{"light " + c.name, question{name: name, qtype: dns.TypeA}},
			func(ctx context.Context) (reply, error) {
				return r.ask(ctx, c.name, endpoints, question{name: name, qtype: dns.TypeA})
			})
		if err != nil {
			return found{err: err}
		}
		next, ok := readCut(c.name, name, got)
		if !ok {
			return r.addressesAt(ctx, c.name, endpoints, name)
		}
		c = next
	}
	return found{err: errDeep}
}

// addressesAt queries the servers of the zone that contains a name for both families.
func (r *run) addressesAt(ctx context.Context, zone string, endpoints []endpoint, name string) found {
	var families [2]found
	var both parallel.Group
	for i, qtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
		both.Go(func() {
			q := question{name: name, qtype: qtype}
			got, err := r.once(ctx, memo{"light " + zone, q}, func(ctx context.Context) (reply, error) {
				return r.ask(ctx, zone, endpoints, q)
			})
			families[i] = readAddresses(got, err, name)
		})
	}
	both.Wait()
	return merged(families[0], families[1])
}

// merged puts the addresses of both families together. Without any, a failure leaves open whether there are some.
func merged(v4, v6 found) found {
	all := found{addresses: inOrder(append(v4.addresses, v6.addresses...)), alias: v4.alias || v6.alias, err: v4.err}
	if all.err == nil {
		all.err = v6.err
	}
	if len(all.addresses) > 0 {
		all.partial, all.err = all.err != nil, nil
	}
	return all
}

func readAddresses(got reply, err error, name string) found {
	switch {
	case err != nil:
		return found{err: err}
	case !got.Authoritative:
		return found{err: errLame}
	}
	return found{
		addresses: addressesIn(got.Answer, name),
		alias:     len(recordsOf(got.Answer, name, dns.TypeCNAME)) > 0,
	}
}

// maxLight is how many servers of a zone are queried for the address of a name server elsewhere.
const maxLight = 3

// lightEndpoints are addresses of a zone that is needed for a lookup alone: those of its glue, else those of the first
// two of its name servers.
func (r *run) lightEndpoints(ctx context.Context, c cut, registry bool, chain []string) []endpoint {
	list := c.endpoints(registry, r.usable)
	if len(list) > 0 {
		return list[:min(len(list), maxLight)]
	}
	names := slices.DeleteFunc(slices.Clone(c.parentNS), func(ns string) bool { return below(ns, c.name) })
	names = names[:min(len(names), 2)]
	each := make([][]endpoint, len(names))
	var looking parallel.Group
	for i, name := range names {
		looking.Go(func() {
			for _, a := range r.lookup(ctx, name, chain).addresses {
				if r.usable(a) {
					each[i] = append(each[i], endpoint{name: name, address: a, registry: registry})
				}
			}
		})
	}
	looking.Wait()
	list = slices.Concat(each...)
	return list[:min(len(list), maxLight)]
}
