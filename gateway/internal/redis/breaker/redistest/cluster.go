package redistest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// StartClusterNode is Start for one node of a cluster, without slots.
func StartClusterNode(t testing.TB) *Server {
	t.Helper()
	return Start(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(freePort(t)))
}

// slots is how many a cluster has.
const slots = 16384

// Join makes a cluster of nodes, an equal share of the slots each, and waits until all say that it is well.
func Join(t testing.TB, nodes ...*Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	clients := make([]*redis.Client, len(nodes))
	for i, node := range nodes {
		clients[i] = node.plain()
		defer clients[i].Close()
		check(t, clients[i].ClusterAddSlotsRange(ctx, slots*i/len(nodes), slots*(i+1)/len(nodes)-1).Err())
		check(t, clients[0].Do(ctx, "CLUSTER", "MEET", "127.0.0.1", node.port, node.busPort()).Err())
	}
	for _, client := range clients {
		awaitWell(ctx, t, client, len(nodes))
	}
}

func (s *Server) plain() *redis.Client { return redis.NewClient(&redis.Options{Addr: s.Addr()}) }

// busPort is the value of --cluster-port.
func (s *Server) busPort() string { return s.args[len(s.args)-1] }

func awaitWell(ctx context.Context, t testing.TB, node *redis.Client, nodes int) {
	t.Helper()
	known := fmt.Sprintf("cluster_known_nodes:%d\r\n", nodes)
	for {
		info, err := node.ClusterInfo(ctx).Result()
		check(t, err)
		if strings.Contains(info, "cluster_state:ok") && strings.Contains(info, known) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(fmt.Errorf("no cluster: %s", info))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
