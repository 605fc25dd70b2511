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
	f.rollTo(t, retag(t, "gateway"))
}

// TestRollOfWorkers replaces two workers under traces, there and back: a gateway that has not found the new one loses
// those that the next one would have run.
func TestRollOfWorkers(t *testing.T) {
	t.Cleanup(func() { up(t, engine, "--scale", "worker=1", "worker") })
	up(t, engine, "--no-recreate", "--scale", "worker=2", "worker")
	next := retag(t, "worker")
	for _, version := range []string{next, engine.env["VERSION"]} {
		s := engine.with("VERSION=" + version)
		// The address decides which of the workers traces.
		traces, others := ask(gateways(t), "traceroute", "11.90.0.1"), ask(gateways(t), "traceroute", "11.90.0.2")
		t.Cleanup(func() { traces.stop(); others.stop() })
		traces.answers(t, enough)
		begin := time.Now()
		if out, err := s.roll("worker"); err != nil {
			t.Fatalf("roll.sh: %v\n%s", err, out)
		}
		t.Logf("rolled to %s in %v", version, time.Since(begin).Round(time.Second))
		traces.answers(t, enough)
		traces.end(t, "traces")
		others.end(t, "traces of the other")
	}
}

// TestRollChecksFirst has what could not start found before anything is stopped, and said.
func TestRollChecksFirst(t *testing.T) {
	running := func() (all []string) {
		for _, service := range []string{"worker", "gateway"} {
			ids, err := engine.containers(service)
			if err != nil || len(ids) == 0 {
				t.Fatalf("%s: %v, %v", service, ids, err)
			}
			all = append(all, ids...)
		}
		return all
	}
	before := running()
	for change, says := range map[string]string{
		"VERSION=a-typo":               "there is no image network-diagnostics-worker:a-typo here",
		"RATE_LIMIT_REQUESTS=many":     "RATE_LIMIT_REQUESTS takes",
		"WORKER_MAX_CONCURRENT=none":   "WORKER_MAX_CONCURRENT takes",
		"WORKER_TLS_CERT_FILE=/none":   "WORKER_TLS_CERT_FILE is set without WORKER_TLS_KEY_FILE",
		"DIAGNOSTICS_SUBNET=no-subnet": "",
	} {
		out, err := engine.with(change).roll()
		if err == nil || !strings.Contains(out, says) || !strings.Contains(out, "all runs as before") {
			t.Errorf("%s: %v\n%s", change, err, out)
		}
	}
	if now := running(); !slices.Equal(now, before) {
		t.Errorf("%v run, before %v", now, before)
	}
	if err := engine.ready(readyWithAll); err != nil {
		t.Error(err)
	}
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
	begin := time.Now()
	if out, err := f.roll("gateway"); err != nil {
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

// roll runs deploy/roll.sh over services, all without any, and returns what it prints.
func (s *stack) roll(services ...string) (string, error) {
	script := exec.CommandContext(s.ctx, filepath.Join(s.root, "deploy/roll.sh"), services...)
	script.Env = append(os.Environ(), append(s.environment(), "COMPOSE_FILE="+strings.Join(s.files, ":"))...)
	out, err := script.CombinedOutput()
	return string(out), err
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

// retag tags a service's image with a second version and returns it.
func retag(t *testing.T, service string) string {
	t.Helper()
	version := engine.env["VERSION"] + "-next"
	name := engine.with("VERSION=" + version).image(service)
	if _, err := output("docker", "tag", engine.image(service), name); err != nil {
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
