package lab

import (
	"context"
	"strings"
)

// Repair gives a node its links, addresses and routes again after a test has taken some away.
func (l *Lab) Repair(ctx context.Context, node string) error {
	batch := strings.NewReplacer("address add", "address replace", "route add", "route replace").
		Replace(l.graph.setup(node))
	_, err := l.toolIn(ctx, node, batch, "ip", "-batch", "-")
	return err
}
