package dnsclient

import (
	"context"
	"strings"

	"github.com/miekg/dns"
)

// Works reports whether the operator's resolver answers at all, after a lookup of a name has failed: it asks the one
// that gave the failure, or else the first, who serves the name's last label, which every resolver knows. It asks once,
// past the cache, and callers at the same time share the question.
func (c *Client) Works(ctx context.Context, name string, failed Answer) bool {
	servers, dial := c.serversFor(cacheKey{})
	server := servers[0]
	if failed.Resolver.IsValid() {
		server = failed.Resolver
	}
	label := name[strings.LastIndexByte(name, '.')+1:]
	key := cacheKey{server: server, name: label, qtype: dns.TypeNS}
	works, err := c.checks.Do(ctx, key, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.life, cancel)()
		q := question{name: dns.CanonicalName(label), qtype: dns.TypeNS}
		return c.tryServer(ctx, dial, server, q).Conclusive(), nil
	})
	return err == nil && works
}
