//go:build compose

package compose

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestRoll has gateways replaced by those of another image under load, behind Caddy, and no request is lost. Caddy gives
// each an equal share before and after.
func TestRoll(t *testing.T) {
	s := behindCaddy(t, "SHUTDOWN_DELAY=1s")
	awaitCaddy(t)
	f := scaled(t, s, "https://"+domain, 2)
	f.rollTo(t, retag(t))
}

// TestRollBothWays does the same from this version to that of ROLL_FROM and back, behind Caddy and behind nginx.
func TestRollBothWays(t *testing.T) {
	other := imageOf(t, os.Getenv("ROLL_FROM"))
	for name, f := range map[string]func(*testing.T) fleet{
		"Caddy": func(t *testing.T) fleet {
			s := behindCaddy(t)
			awaitCaddy(t)
			return scaled(t, s, "https://"+domain, 3)
		},
		"nginx": func(t *testing.T) fleet { return scaled(t, behindNginx(t), "https://"+domain+":"+nginxPort, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			f := f(t)
			for range 2 {
				f.rollTo(t, other)
				f.rollTo(t, engine.env["VERSION"])
			}
		})
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
	posts.end(t, "POST", postsLost(f)...)
	for _, id := range f.ids(t) {
		image, err := output("docker", "inspect", "--format", "{{.Config.Image}}", id)
		if err != nil || image != f.image("gateway") {
			t.Errorf("a gateway has the image %s, want %s: %v", image, f.image("gateway"), err)
		}
	}
}

// postsLost is what a POST may end in: before 2.11.4 Caddy cannot repeat one whose connection failed
// (https://github.com/caddyserver/caddy/pull/7715).
func postsLost(f fleet) []string {
	if slices.Contains(f.files, tlsOverlay) && os.Getenv("LAB_CADDY") == "" {
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

// shares fails the test where one gateway of all answers 20 % more or fewer of the next runs than the mean.
func (f fleet) shares(t *testing.T) {
	t.Helper()
	counts, all, enough := map[string]int{}, 0, 60*f.size
	since := time.Now()
	for all < enough && time.Since(since) < 20*time.Second {
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
	t.Logf("of %d runs: %v", all, counts)
	if all < enough {
		t.Fatalf("%d runs, want %d", all, enough)
	}
	mean := all / f.size
	for id, n := range counts {
		if n < mean*4/5 || n > mean*6/5 {
			t.Errorf("gateway %s answered %d of %d runs", id, n, all)
		}
	}
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
	script := fmt.Sprintf(`git archive %s | docker build --quiet --file deploy/gateway.Dockerfile --build-arg VERSION=%s --tag %s -`,
		version, version, name)
	build := exec.CommandContext(engine.ctx, "bash", "-euo", "pipefail", "-c", script)
	build.Dir = engine.root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", ref, err, tail(out))
	}
	t.Cleanup(func() { _ = exec.Command("docker", "rmi", "--no-prune", name).Run() })
	return version
}

const nginxPort = "18443"

// nginxFrame holds deploy/proxies/nginx.conf as Debian's nginx.conf would.
const nginxFrame = `daemon off; pid %[1]s/nginx.pid; error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
%[2]s
}
`

// behindNginx runs this machine's nginx in front of the gateways, with an upstream for each, for the time of the test.
func behindNginx(t *testing.T) *stack {
	t.Helper()
	dir := t.TempDir()
	if _, err := output("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
		"-subj", "/CN="+domain, "-keyout", dir+"/key.pem", "-out", dir+"/cert.pem"); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(engine.root, "deploy/proxies/nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	upstream := regexp.MustCompile(`server 127\.0\.0\.1:8080( [^;]*)?;`)
	text := upstream.ReplaceAllStringFunc(string(config), func(line string) (all string) {
		first, _, _ := strings.Cut(publishedAt, "-")
		port, _ := strconv.Atoi(first)
		for i := range 3 {
			all += strings.Replace(line, "127.0.0.1:8080", fmt.Sprintf("%s:%d", hostAddress, port+i), 1) + "\n"
		}
		return all
	})
	text = regexp.MustCompile(`(?m)^ *listen (80|\[::\].*);$`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`return 308 .*;`).ReplaceAllString(text, "listen "+hostAddress+":18444; $0")
	text = strings.NewReplacer("listen 443 ", "listen "+hostAddress+":"+nginxPort+" ", "tools.example.com", domain,
		"/etc/letsencrypt/live/tools.example.com/fullchain.pem", dir+"/cert.pem",
		"/etc/letsencrypt/live/tools.example.com/privkey.pem", dir+"/key.pem").Replace(text)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, fmt.Appendf(nil, nginxFrame, dir, text), 0o600); err != nil {
		t.Fatal(err)
	}
	// Its answers leave by the way of the containers'.
	rule := []string{"from", hostAddress, "lookup", routingTable, "priority", routingTable}
	if err := commands([][]string{append([]string{"ip", "rule", "add"}, rule...)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exec.Command("ip", append([]string{"rule", "delete"}, rule...)...).Run() })
	nginx := exec.Command("nginx", "-c", path, "-e", filepath.Join(dir, "error.log"))
	if err := nginx.Start(); err != nil {
		t.Fatal(err)
	}
	s := engine.with("TRUST_PROXY_HEADERS=true", "CLIENT_ADDRESS_HEADER=x-real-ip", "PUBLIC_ORIGIN=https://"+domain+":"+nginxPort,
		"TRUSTED_PROXY_CIDRS="+egressSubnet+","+uplinkNet, "SHUTDOWN_DELAY=5s")
	t.Cleanup(func() {
		_ = nginx.Process.Signal(os.Interrupt)
		_ = nginx.Wait()
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(dir, "error.log"))
			t.Log(tail(log))
		}
		up(t, engine, "gateway")
	})
	up(t, s, "gateway")
	return s
}
