//go:build compose

package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"diagnostics/shared/waittest"
)

const (
	project          = "diagnostics-compose-test"
	egressSubnet     = "172.30.241.0/24"
	workerSubnet     = "172.30.242.0/24"
	redisSubnet      = "172.30.243.0/24"
	metricsSubnet    = "172.30.244.0/24"
	prometheusSubnet = "172.30.245.0/24"
	publishedAt      = "18080-18082"
)

// stack is the project on the engine, and the world around it.
type stack struct {
	root    string // of the repository
	compose []string
	files   []string
	env     map[string]string
	world   *world
	// ctx ends what is under way; interrupt does it.
	ctx       context.Context
	interrupt context.CancelFunc
	// started is how long the services took from nothing to ready, images built.
	started time.Duration
}

func newStack() *stack {
	root, err := filepath.Abs("../../..")
	if err != nil {
		panic(err)
	}
	s := &stack{root: root, compose: []string{"docker-compose"}, world: newWorld()}
	s.ctx, s.interrupt = context.WithCancel(context.Background())
	if exec.Command("docker", "compose", "version").Run() == nil {
		s.compose = []string{"docker", "compose"}
	}
	s.files = []string{"docker-compose.yml", "deploy/lab/compose/lab.yml"}
	s.env = map[string]string{
		"COMPOSE_PROJECT_NAME":      project,
		"DIAGNOSTICS_SUBNET":        egressSubnet,
		"DIAGNOSTICS_WORKER_SUBNET": workerSubnet,
		"DIAGNOSTICS_REDIS_SUBNET":  redisSubnet,
		"GATEWAY_PUBLISH":           hostAddress + ":" + publishedAt,
		// Of the overlay for monitoring.
		"DIAGNOSTICS_METRICS_SUBNET":    metricsSubnet,
		"DIAGNOSTICS_PROMETHEUS_SUBNET": prometheusSubnet,
		"PROMETHEUS_PUBLISH":            prometheusAt,
		"DNS_RESOLVERS":                 resolver,
		// Many visitors use few targets.
		"RATE_LIMIT_TARGET_REQUESTS":  "1000000",
		"RATE_LIMIT_ADDRESS_REQUESTS": "1000000",
		"LAB_DIR":                     s.world.dir,
		"VERSION":                     cmp.Or(os.Getenv("VERSION"), s.git("describe", "--tags", "--always", "--dirty")),
		"COMMIT":                      cmp.Or(os.Getenv("COMMIT"), s.git("rev-parse", "HEAD")),
	}
	return s
}

// git is a fact of the repository, as make build takes it.
func (s *stack) git(args ...string) string {
	out, err := exec.Command("git", append([]string{"-C", s.root}, args...)...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// bringUp makes the world first: the gateway is published at an address of it, and nothing is to find a way out.
func (s *stack) bringUp() error {
	begin := time.Now()
	if err := s.world.start(s.root); err != nil {
		return fmt.Errorf("the world: %w", err)
	}
	fmt.Printf("the world stands after %v\n", time.Since(begin).Round(time.Second))
	if _, err := s.run("build"); err != nil {
		return err
	}
	fmt.Printf("the images are built after %v\n", time.Since(begin).Round(time.Second))
	begin = time.Now()
	if _, err := s.run("up", "--detach"); err != nil {
		return err
	}
	if err := s.await(readyWithAll); err != nil {
		return err
	}
	s.started = time.Since(begin)
	return nil
}

// takeDown leaves nothing of the project, nor of the world.
func (s *stack) takeDown() {
	everything := s.overlaid()
	everything.ctx = context.Background()
	for _, name := range []string{upProject, placeProject, project} {
		everything.with("COMPOSE_PROJECT_NAME=" + name).down()
	}
	closeWays()
	s.world.end()
	for _, service := range []string{"gateway", "worker"} {
		// What it was built from stays, so that the next build is faster.
		_ = exec.Command("docker", "rmi", "--no-prune", s.image(service)).Run()
	}
	removeImported()
}

// overlays are the files that are laid over docker-compose.yml.
func (s *stack) overlays() []string {
	found, _ := filepath.Glob(filepath.Join(s.root, "deploy", "compose.*.yml"))
	return found
}

// image is the name of a service's own image.
func (s *stack) image(service string) string {
	return "network-diagnostics-" + service + ":" + s.env["VERSION"]
}

// with is the same project with other settings or files: NAME=value, or the path of a file.
func (s *stack) with(changes ...string) *stack {
	other := *s
	other.env, other.files = maps.Clone(s.env), slices.Clone(s.files)
	for _, change := range changes {
		if name, value, ok := strings.Cut(change, "="); ok {
			other.env[name] = value
			continue
		}
		other.files = append(other.files, change)
	}
	return &other
}

// command is one of the engine's compose.
func (s *stack) command(args ...string) *exec.Cmd {
	all := slices.Clone(s.compose[1:])
	for _, file := range s.files {
		all = append(all, "-f", file)
	}
	cmd := exec.CommandContext(s.ctx, s.compose[0], append(all, args...)...)
	cmd.Dir, cmd.Env = s.root, append(os.Environ(), s.environment()...)
	return cmd
}

// environment is the project's settings, as programs take them.
func (s *stack) environment() (env []string) {
	for name, value := range s.env {
		env = append(env, name+"="+value)
	}
	return env
}

// run gives what the command printed on both, which is shown where it fails.
func (s *stack) run(args ...string) (string, error) {
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("compose %s: %w\n%s", strings.Join(args, " "), err, tail(out))
	}
	return string(out), nil
}

func (s *stack) printLogs() {
	out, _ := s.run("logs", "--no-color", "--tail", "40")
	fmt.Fprintln(os.Stderr, out)
	s.world.printLogs()
}

// containers are the running ones of a service, by id.
func (s *stack) containers(service string) ([]string, error) {
	out, err := output("docker", "ps", "--quiet", "--no-trunc",
		"--filter", "label=com.docker.compose.project="+s.env["COMPOSE_PROJECT_NAME"],
		"--filter", "label=com.docker.compose.service="+service, "--filter", "label=com.docker.compose.oneoff=False")
	return strings.Fields(out), err
}

// container is the only one of a service.
func (s *stack) container(service string) (string, error) {
	ids, err := s.containers(service)
	if err == nil && len(ids) != 1 {
		err = fmt.Errorf("%d containers of %s run", len(ids), service)
	}
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// gateways are where the gateways are published.
func (s *stack) gateways() (addresses []string, err error) {
	ids, err := s.containers("gateway")
	for _, id := range ids {
		out, err := output("docker", "port", id, "8080/tcp")
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, strings.Fields(out)...)
	}
	return addresses, err
}

// state is the answer of /readyz.
type state struct{ Status, Redis, Worker string }

func readyWithAll(s state) bool { return s == state{"ready", "ok", "ok"} }

// await waits until every gateway's /readyz is as wanted.
func (s *stack) await(wanted func(state) bool) error {
	var last error
	if waittest.Within(45*time.Second, func() bool { last = s.ready(wanted); return last == nil }) {
		return nil
	}
	return fmt.Errorf("not ready as wanted: %w", last)
}

func (s *stack) ready(wanted func(state) bool) error {
	gateways, err := s.gateways()
	if err != nil {
		return err
	}
	if len(gateways) == 0 {
		return errors.New("no gateway runs")
	}
	for _, gateway := range gateways {
		var reported state
		a, err := newVisitor().send(http.MethodGet, "http://"+gateway+"/readyz", nil, nil)
		if err == nil {
			reported, err = read[state](a.body)
		}
		if err == nil && !wanted(reported) {
			err = fmt.Errorf("%s reports %+v", gateway, reported)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// output is what a program prints, without the line feed at its end.
func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, tail(out))
	}
	return strings.TrimSpace(string(out)), nil
}

func tail(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}
