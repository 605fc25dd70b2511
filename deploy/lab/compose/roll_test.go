//go:build compose

package compose

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestRoll has gateways replaced by those of another image under load, behind Caddy, and no request is lost. Caddy
// gives each an equal share before and after.
func TestRoll(t *testing.T) {
	s := behindCaddy(t, "SHUTDOWN_DELAY=1s")
	awaitCaddy(t)
	f := scaled(t, s, "https://"+domain, 2)
	f.rollTo(t, retag(t))
}

// TestRollBothWays does the same twice from this version to that of ROLL_FROM and back.
func TestRollBothWays(t *testing.T) {
	other := imageOf(t, os.Getenv("ROLL_FROM"))
	s := behindCaddy(t)
	awaitCaddy(t)
	f := scaled(t, s, "https://"+domain, 3)
	for range 2 {
		f.rollTo(t, other)
		f.rollTo(t, engine.env["VERSION"])
	}
}

// fleet is several gateways behind a proxy.
type fleet struct {
	*stack
	origin string
	size   int
}

func scaled(t *testing.T, s *stack, origin string, size int) fleet {
	t.Helper()
	t.Cleanup(func() { up(t, engine, "--scale", "gateway=1", "gateway") })
	up(t, s, "--no-recreate", "--scale", "gateway="+strconv.Itoa(size), "gateway")
	return fleet{s, origin, size}
}

// rollTo replaces the gateways by those of a version under load.
func (f fleet) rollTo(t *testing.T, version string) {
	t.Helper()
	f.stack = f.with("VERSION=" + version)
	posts := keepSending(func(int) (answer, error) { return newVisitor().ask(f.origin, "my-ip", "", nil, nil) })
	gets := keepSending(func(int) (answer, error) {
		return newVisitor().send(http.MethodGet, f.origin+"/api/connection/ping", nil, nil)
	})
	t.Cleanup(func() { posts.stop(); gets.stop() })
	f.shares(t)
	roll := exec.CommandContext(f.ctx, filepath.Join(f.root, "deploy/roll.sh"), "gateway")
	roll.Env = append(os.Environ(), append(f.environment(), "COMPOSE_FILE="+strings.Join(f.files, ":"))...)
	begin := time.Now()
	if out, err := roll.CombinedOutput(); err != nil {
		t.Fatalf("roll.sh: %v\n%s", err, out)
	}
	t.Logf("rolled to %s in %v", version, time.Since(begin).Round(time.Second))
	f.shares(t)
	gets.end(t, "GET")
	posts.end(t, "POST", postsLost()...)
	for _, id := range f.ids(t) {
		image, err := output("docker", "inspect", "--format", "{{.Config.Image}}", id)
		if err != nil || image != f.image("gateway") {
			t.Errorf("a gateway has the image %s, want %s: %v", image, f.image("gateway"), err)
		}
	}
}

// postsLost is what a POST may end in: before 2.11.4 Caddy cannot repeat one whose connection failed
// (https://github.com/caddyserver/caddy/pull/7715).
func postsLost() []string {
	if os.Getenv("LAB_CADDY") == "" {
		return []string{"502"}
	}
	return nil
}

func (f fleet) ids(t *testing.T) []string {
	t.Helper()
	ids, err := f.containers("gateway")
	if err != nil || len(ids) != f.size {
		t.Fatalf("%d gateways run, want %d: %v", len(ids), f.size, err)
	}
	return ids
}

// shares fails the test where one gateway of all answers 20 % more or fewer of the next runs than the mean. They count
// from when each has answered: Caddy looks a second apart which gateways there are.
func (f fleet) shares(t *testing.T) {
	t.Helper()
	f.runs(t, "each gateway answers", time.Now(), func(counts map[string]int, _ int) bool {
		return !slices.Contains(slices.Collect(maps.Values(counts)), 0)
	})
	counts, all := f.runs(t, "enough runs", time.Now(), func(_ map[string]int, all int) bool { return all >= 60*f.size })
	t.Logf("of %d runs: %v", all, counts)
	mean := all / f.size
	for id, n := range counts {
		if n < mean*4/5 || n > mean*6/5 {
			t.Errorf("gateway %s answered %d of %d runs", id, n, all)
		}
	}
}

// runs counts the runs that each gateway has answered since a moment, until met.
func (f fleet) runs(t *testing.T, what string, since time.Time, met func(map[string]int, int) bool) (map[string]int,
	int) {
	t.Helper()
	counts, all := map[string]int{}, 0
	for end := time.Now().Add(20 * time.Second); !met(counts, all) || all == 0; {
		if time.Now().After(end) {
			t.Fatalf("%s: in vain: %v", what, counts)
		}
		time.Sleep(200 * time.Millisecond) // the load goes on
		all = 0
		for _, id := range f.ids(t) {
			out, err := output("docker", "logs", "--since", since.Format(time.RFC3339Nano), id)
			if err != nil {
				t.Fatal(err)
			}
			counts[id[:12]] = strings.Count(out, `"my-ip"`)
			all += counts[id[:12]]
		}
	}
	return counts, all
}

// retag gives the gateway's image a second version.
func retag(t *testing.T) string {
	t.Helper()
	version := engine.env["VERSION"] + "-next"
	name := engine.with("VERSION=" + version).image("gateway")
	if _, err := output("docker", "tag", engine.image("gateway"), name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exec.Command("docker", "rmi", "--no-prune", name).Run() })
	return version
}

// imageOf builds the gateway's image of a commit.
func imageOf(t *testing.T, ref string) (version string) {
	t.Helper()
	if ref == "" {
		t.Fatal("ROLL_FROM names no commit")
	}
	version = engine.git("rev-parse", "--short", ref)
	name := engine.with("VERSION=" + version).image("gateway")
	script := fmt.Sprintf(`git archive %s | docker build --quiet --file deploy/gateway.Dockerfile `+
		`--build-arg VERSION=%s --tag %s -`, version, version, name)
	build := exec.CommandContext(engine.ctx, "bash", "-euo", "pipefail", "-c", script)
	build.Dir = engine.root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", ref, err, tail(out))
	}
	t.Cleanup(func() { _ = exec.Command("docker", "rmi", "--no-prune", name).Run() })
	return version
}
