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

// Join makes a cluster of two nodes, half of the slots each, and waits until both say that it is well.
func Join(t testing.TB, one, two *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	a, b := one.plain(), two.plain()
	defer a.Close()
	defer b.Close()
	check(t, a.ClusterAddSlotsRange(ctx, 0, 8191).Err())
	check(t, b.ClusterAddSlotsRange(ctx, 8192, 16383).Err())
	check(t, a.Do(ctx, "CLUSTER", "MEET", "127.0.0.1", two.port, two.busPort()).Err())
	for _, node := range []*redis.Client{a, b} {
		awaitWell(ctx, t, node)
	}
}

func (s *Server) plain() *redis.Client { return redis.NewClient(&redis.Options{Addr: s.Addr()}) }

// busPort is the value of --cluster-port.
func (s *Server) busPort() string { return s.args[len(s.args)-1] }

func awaitWell(ctx context.Context, t testing.TB, node *redis.Client) {
	t.Helper()
	for {
		info, err := node.ClusterInfo(ctx).Result()
		check(t, err)
		if strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:2") {
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
