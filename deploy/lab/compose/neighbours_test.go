//go:build compose

package compose

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/lab/internal/netns"
	"diagnostics/shared/waittest"
)

// refused holds that the gateway connects to a target of no kind.
func refused(t *testing.T, target, what string) {
	t.Helper()
	run(t, "http-headers", "http://"+target+":8081/", nil).wants(t, what+" to http-headers", http.StatusBadRequest)
	run(t, "port-checker", target+":6379", nil).wants(t, what+" to port-checker", http.StatusBadRequest)
}

func TestPrivateTargets(t *testing.T) {
	run(t, "traceroute", "127.0.0.1", nil).wants(t, "this host to traceroute", http.StatusBadRequest)
	run(t, "ping", "10.0.0.1", nil).wants(t, "a private address to ping", http.StatusBadRequest)
}

// Neither the host behind the bridge nor the other containers can be reached through the gateway, by name or by
// address.
func TestHostAndNeighboursAsTargets(t *testing.T) {
	for _, name := range []string{"redis", "worker", "worker-api", "redis." + project + "_redis", "host.docker.internal"} {
		refused(t, name, name)
	}
	for _, service := range []string{"redis", "worker", "gateway"} {
		own, bridges := addresses(t, service, "IPAddress"), addresses(t, service, "Gateway")
		if len(own) == 0 || len(bridges) == 0 && service != "redis" {
			t.Fatalf("the addresses of %s are not known", service)
		}
		for _, address := range slices.Concat(own, bridges) {
			refused(t, address, service+"'s network")
		}
	}
}

// addresses are those of a service's container in all its networks: its own (IPAddress) or the host's (Gateway).
func addresses(t *testing.T, service, field string) []string {
	t.Helper()
	return strings.Fields(inspect(t, service, "{{range .NetworkSettings.Networks}}{{."+field+"}} {{end}}"))
}

func inspect(t *testing.T, service, format string) string {
	t.Helper()
	id, err := engine.container(service)
	if err != nil {
		t.Fatal(err)
	}
	out, err := output("docker", "inspect", "--format", format, id)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// addressIn is a service's address in one of the project's networks.
func addressIn(t *testing.T, service, network string) string {
	t.Helper()
	return inspect(t, service, fmt.Sprintf("{{(index .NetworkSettings.Networks %q).IPAddress}}", project+"_"+network))
}

// namespaceOf is the network of a service's container, or of any container by name.
func namespaceOf(t *testing.T, container string) *netns.NS {
	t.Helper()
	pid, err := processOf(container)
	if err != nil {
		t.Fatal(err)
	}
	ns, err := netns.OpenProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ns.Close() })
	return ns
}

func inContainer(t *testing.T, service string) *netns.NS {
	t.Helper()
	id, err := engine.container(service)
	if err != nil {
		t.Fatal(err)
	}
	return namespaceOf(t, id)
}

// The worker and Redis answer the gateway alone.
func TestTheWorkerAndRedisAreReachedByTheGatewayAlone(t *testing.T) {
	const foreign = project + "-foreign"
	if _, err := runContainer(foreign, worldImage); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exec.Command("docker", "rm", "--force", foreign).Run() })
	worker := neighbour{addressIn(t, "worker", "worker") + ":8081", "GET /healthz HTTP/1.0\r\n\r\n", "HTTP/1.0 200 "}
	way := neighbour{addressIn(t, "worker", "egress") + ":8081", worker.request, worker.answer}
	redis := neighbour{addressIn(t, "redis", "redis") + ":6379", "PING\r\n", "-NOAUTH "}
	gateway := inContainer(t, "gateway")
	for _, n := range []neighbour{worker, redis} {
		if err := n.answersWithin(gateway, 20*time.Second); err != nil {
			t.Errorf("from the gateway: %v", err)
		}
	}
	others := map[string]*netns.NS{"the host": netns.Own(), "a foreign container": namespaceOf(t, foreign)}
	for from, ns := range others {
		for _, n := range []neighbour{worker, way, redis} {
			if n.answers(ns) == nil {
				t.Errorf("%s can be reached from %s", n.address, from)
			}
		}
	}
	if worker.answers(inContainer(t, "redis")) == nil {
		t.Error("the worker can be reached from Redis")
	}
	if redis.answers(inContainer(t, "worker")) == nil {
		t.Error("Redis can be reached from the worker")
	}
	if way.answers(gateway) == nil {
		t.Error("the worker listens in the network of its packets")
	}
}

// neighbour is a service, and how its answer begins. A connection alone shows nothing: the network of a machine may
// accept those to any address.
type neighbour struct{ address, request, answer string }

func (n neighbour) answers(from *netns.NS) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	c, err := from.DialFrom(ctx, &net.Dialer{}, "tcp", n.address)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(3 * time.Second))
	if _, err := io.WriteString(c, n.request); err != nil {
		return err
	}
	begin := make([]byte, len(n.answer))
	if _, err := io.ReadFull(c, begin); err != nil {
		return err
	}
	if string(begin) != n.answer {
		return fmt.Errorf("%s answers %q", n.address, begin)
	}
	return nil
}

// answersWithin is answers, tried again until the time is over: the machine may be busy.
func (n neighbour) answersWithin(from *netns.NS, patience time.Duration) (err error) {
	waittest.Within(patience, func() bool { err = n.answers(from); return err == nil })
	return err
}

// execute runs a command in a service's container.
func execute(t *testing.T, service string, command ...string) string {
	t.Helper()
	id, err := engine.container(service)
	if err != nil {
		t.Fatal(err)
	}
	out, err := output("docker", append([]string{"exec", id}, command...)...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRedisWantsItsPassword(t *testing.T) {
	if out := execute(t, "redis", "redis-cli", "ping"); !strings.Contains(out, "NOAUTH") {
		t.Errorf("redis-cli without the password: %s", out)
	}
}

// No service runs as root once it has started, and none holds a capability.
func TestRights(t *testing.T) {
	for service, uid := range map[string]string{"gateway": "65532", "worker": "65531", "redis": "999"} {
		status, err := os.ReadFile("/proc/" + inspect(t, service, "{{.State.Pid}}") + "/status")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{
			`Uid:\t` + uid + `\t` + uid, `CapPrm:\t0{16}\n`, `CapEff:\t0{16}\n`, `CapInh:\t0{16}\n`, `CapAmb:\t0{16}\n`,
		} {
			if !regexp.MustCompile(line).Match(status) {
				t.Errorf("%s: no %s in\n%s", service, line, status)
			}
		}
		bounding := regexp.MustCompile(`CapBnd:\t0{16}\n`).Match(status)
		if !bounding && service != "worker" {
			t.Errorf("%s may still get a capability:\n%s", service, status)
		}
	}
}

// The secrets are made once, and their group alone reads them.
func TestSecretsStay(t *testing.T) {
	const file = "/secrets/redis/password"
	before := execute(t, "redis", "cat", file)
	if _, err := engine.run("run", "--rm", "secrets"); err != nil {
		t.Fatal(err)
	}
	if execute(t, "redis", "cat", file) != before || before == "" {
		t.Error("the secrets are others now")
	}
	if reported := execute(t, "redis", "stat", "-c", "%a %u:%g", file); reported != "440 0:65532" {
		t.Errorf("rights of %s: %s", file, reported)
	}
}

// A password of one's own may hold what shells and Redis' configuration read as their own.
func TestOddPassword(t *testing.T) {
	before := execute(t, "redis", "cat", "/secrets/redis/password")
	change := func(password string) {
		if _, err := engine.with("RATE_LIMIT_REDIS_TOKEN="+password).run("run", "--rm", "secrets"); err != nil {
			t.Fatal(err)
		}
		asThePageSays(t, "kill -HUP")
		compose(t, "restart", "redis")
		await(t, readyWithAll)
	}
	t.Cleanup(func() { change(before) })
	change(`a  "b' #c\d $(e) \x41`)
	if out := execute(t, "redis", "redis-cli", "ping"); !strings.Contains(out, "NOAUTH") {
		t.Errorf("redis-cli without the password: %s", out)
	}
}

// An address that the gateway got after its start is its own at once, and HOST_ADDRESSES names those of the host.
func TestPublicAddressesOfItsOwn(t *testing.T) {
	// Docker takes the default route of the network whose name is first: that one is to stay.
	const network = project + "_public"
	if out, err := engine.run("logs", "--no-color", "gateway"); err != nil || !strings.Contains(out, "HOST_ADDRESSES") {
		t.Errorf("the start does not say that the host cannot be seen: %v\n%s", err, out)
	}
	id, err := engine.container("gateway")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command("docker", "network", "disconnect", "--force", network, id).Run()
		_ = exec.Command("docker", "network", "rm", network).Run()
	})
	if err := commands([][]string{
		{"docker", "network", "create", "--subnet", "11.55.0.0/24", network},
		{"docker", "network", "connect", "--ip", "11.55.0.7", network, id},
	}); err != nil {
		t.Fatal(err)
	}
	refused(t, "11.55.0.7", "an address of the gateway that is public and new")

	t.Cleanup(func() { up(t, engine, "gateway") })
	up(t, engine.with("HOST_ADDRESSES="+hostAddress), "gateway")
	refused(t, hostAddress, "an address of HOST_ADDRESSES")
}

// up starts a service as the settings say, and waits until all is well.
func up(t *testing.T, s *stack, args ...string) {
	t.Helper()
	if _, err := s.run(append([]string{"up", "--detach", "--no-deps"}, args...)...); err != nil {
		t.Fatal(err)
	}
	if err := engine.await(readyWithAll); err != nil {
		t.Fatal(err)
	}
}
