package egress

import (
	"context"
	"strings"

	"diagnostics/gateway/internal/dnsclient"
	"diagnostics/gateway/internal/fault"
)

// ResolverFault is the *fault.Error (Upstream or Timeout, Own) to tell where a lookup of the name failed because the
// operator's resolver fails: one that cannot say either who serves the name's last label. It is nil where that resolver
// works, so that the name's own servers are at fault. A resolver that is down must not make a site down. shown stands
// for the name in the sentence.
func (c *Client) ResolverFault(ctx context.Context, name, shown string, failed dnsclient.Answer) error {
	if failed.Conclusive() || failed.Busy != nil || c.dns.Works(ctx, name, failed) || ctx.Err() != nil {
		return nil //nolint:nilerr // what this host lacks, and that nobody waits any more, is told by others
	}
	own := fault.Newf(fault.Upstream, "The lookup of %s failed: this service's own resolver answered %s.", shown,
		strings.TrimPrefix(failed.Code, "E"))
	switch failed.Code {
	case dnsclient.CodeTimeout:
		own = fault.Newf(fault.Timeout, "The lookup of %s got no answer: this service's own resolver did not respond.", shown)
	case dnsclient.CodeConnRefused:
		own = fault.Newf(fault.Upstream, "The lookup of %s failed: this service's own resolver cannot be reached.", shown)
	case dnsclient.CodeBadResp:
		own = fault.Newf(fault.Upstream,
			"The lookup of %s failed: this service's own resolver gives invalid answers.", shown)
	}
	own.Own = true
	return own
}
