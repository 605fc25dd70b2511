//go:build compose

package compose

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"diagnostics/lab/internal/docs"
	"diagnostics/shared/waittest"
)

const (
	placeProject      = project + "-place"
	placeSubnet       = "172.30.246.0/24"
	placeWorkerSubnet = "172.30.247.0/24"
	placeRedisSubnet  = "172.30.248.0/24"
	placePublishedAt  = hostAddress + ":18090"
	placeListensAt    = hostAddress + ":18443"
	placeFile         = "deploy/compose.place.yml"
	placeURL          = "https://" + placeListensAt
	placeToken        = "token"
	placeKey          = "key.pem"
	placeCertificate  = "cert.pem"
)

// overlaid is the project with every overlay, and the settings that these require.
func (s *stack) overlaid() *stack {
	return s.with(append(s.overlays(), "PUBLIC_DOMAIN="+domain, "PLACE_ID=fra", "PEER_TLS_NAMES="+hostAddress)...)
}

// place is a second project with networks of its own and a folder of its own. Its images are those of the first.
func (s *stack) place() *stack {
	other := s.with("COMPOSE_PROJECT_NAME="+placeProject, "DIAGNOSTICS_SUBNET="+placeSubnet,
		"DIAGNOSTICS_WORKER_SUBNET="+placeWorkerSubnet, "DIAGNOSTICS_REDIS_SUBNET="+placeRedisSubnet,
		"GATEWAY_PUBLISH="+placePublishedAt, "PEER_PUBLISH="+placeListensAt)
	other.files = []string{"docker-compose.yml", placeFile, filepath.Join(s.root, "deploy/lab/compose/lab.yml")}
	other.root = filepath.Join(s.world.dir, "machine")
	return other
}

// startAsTheFileSays runs the commands in the head of compose.place.yml, with this machine's address and lab.yml added.
func startAsTheFileSays(t *testing.T, b *stack) {
	t.Helper()
	if err := commands([][]string{
		{"install", "-D", "-t", b.root, filepath.Join(engine.root, "docker-compose.yml")},
		{"install", "-D", "-t", filepath.Join(b.root, "deploy"), filepath.Join(engine.root, placeFile)},
	}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(b.root, placeFile))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, line := range regexp.MustCompile(`(?m)^#   (.+)$`).FindAllSubmatch(text, -1) {
		script.Write(append(line[1], '\n'))
	}
	folder := docs.PlaceOfCompose(engine.ctx, b.root)
	folder.Env = b.environment()
	folder.Instead = strings.NewReplacer("fra.example.net", hostAddress, ":"+placeFile, ":"+strings.Join(b.files[1:], ":"))
	if out, err := folder.Run(engine.ctx, docs.Script{Name: placeFile, Text: script.String()}); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// betweenProjects adds (-I) or deletes (-D) the rules that let one network of the engine reach a published port of
// another, which the engine forbids. Two machines need none.
func betweenProjects(action string) error {
	return commands([][]string{
		{"iptables", action, "DOCKER-USER", "-s", egressSubnet, "-d", placeSubnet, "-j", "ACCEPT"},
		{"iptables", action, "DOCKER-USER", "-s", placeSubnet, "-d", egressSubnet, "-j", "ACCEPT"},
	})
}

// elsewhere runs a tool at the place, by way of the first project.
func elsewhere(t *testing.T, slug, input string) answer {
	t.Helper()
	return run(t, slug, input, map[string]any{"place": "fra"})
}

// awaitPlace waits until the first project's /readyz has a state of the place, and gives how long that took.
func awaitPlace(t *testing.T, wanted string, patience time.Duration) time.Duration {
	t.Helper()
	begin := time.Now()
	var a answer
	if !waittest.Within(patience, func() bool {
		a = get(t, origin(t)+"/readyz")
		reported, err := read[struct{ Places map[string]string }](a.body)
		return err == nil && reported.Places["fra"] == wanted
	}) {
		t.Fatalf("after %v the place is not %s: %s", patience, wanted, a.body)
	}
	return time.Since(begin)
}

// placesFile makes the list of the first project, with what its operator has got of the place.
func placesFile(t *testing.T, files string) {
	t.Helper()
	// Owned as the documentation says: by the user of the gateway, and for it alone.
	if _, err := output("install", "-o", "65532", "-m", "0600", "-t", engine.world.dir,
		filepath.Join(files, placeToken), filepath.Join(files, placeCertificate)); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]map[string]string{{
		"id": "fra", "name": "Frankfurt", "url": placeURL,
		"tokenFile": "/lab/" + placeToken, "caFile": "/lab/" + placeCertificate,
	}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(engine.world.dir, "places.json"), text)
}

// write writes a file; one that exists keeps its owner and mode.
func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAnotherPlace starts a place as the head of compose.place.yml has it, and has the first project ask it.
func TestAnotherPlace(t *testing.T) {
	b := engine.place()
	t.Cleanup(func() { up(t, engine, "gateway") })
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := b.run("logs", "--no-color", "--tail", "40")
			t.Log(out)
		}
		b.down()
	})
	startAsTheFileSays(t, b)
	files := filepath.Join(b.root, "place")
	secretsOfPlace(t, b, files)

	t.Cleanup(closeWays)
	if err := betweenProjects("-I"); err != nil {
		t.Fatal(err)
	}
	placesFile(t, files)
	up(t, engine.with("PLACE_ID=ams", "PLACES_FILE=/lab/places.json"), "gateway")
	awaitPlace(t, "ok", 30*time.Second)

	t.Run("tools", func(t *testing.T) {
		const there = `"place":{"id":"fra","name":"Frankfurt"}`
		elsewhere(t, "dns-lookup", "lab-dns.com").wants(t, "dns-lookup", http.StatusOK, there, `"A":["11.80.0.1"]`)
		elsewhere(t, "port-checker", "fast.lab-site.com:443").wants(t, "port-checker", http.StatusOK, there,
			`"state":"open"`)
		elsewhere(t, "ping", "11.90.0.1").wants(t, "ping, by the worker", http.StatusOK, there, `"received":10`)
		elsewhere(t, "port-checker", hostAddress+":18443").wants(t, "the place as a target", http.StatusBadRequest)
		run(t, "dns-lookup", "lab-dns.com", nil).wants(t, "dns-lookup here", http.StatusOK, `"place":{"id":"ams"`)
	})
	t.Run("listener", func(t *testing.T) { peerListener(t, files) })
	t.Run("wrong token", wrongToken)
	t.Run("lost", func(t *testing.T) { lostPlace(t, b) })
}

// secretsOfPlace holds that the files have mode 0600, that the log has their paths and the fingerprint that openssl
// computes, and that another start keeps them.
func secretsOfPlace(t *testing.T, b *stack, files string) {
	t.Helper()
	before := map[string]string{}
	for _, name := range []string{placeToken, placeKey, placeCertificate} {
		info, err := os.Stat(filepath.Join(files, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o600 {
			t.Errorf("%s: %v", name, info.Mode())
		}
		text, err := os.ReadFile(filepath.Join(files, name))
		if err != nil {
			t.Fatal(err)
		}
		before[name] = string(text)
	}
	out, err := output("openssl", "x509", "-noout", "-fingerprint", "-sha256",
		"-in", filepath.Join(files, placeCertificate))
	if err != nil {
		t.Fatal(err)
	}
	_, fingerprint, _ := strings.Cut(out, "=")
	logged, err := b.run("logs", "--no-color", "place")
	if err != nil {
		t.Fatal(err)
	}
	fingerprint = strings.ReplaceAll(fingerprint, ":", "")
	for _, part := range []string{
		"/place/" + placeToken, "/place/" + placeKey, "/place/" + placeCertificate, fingerprint,
	} {
		if !strings.Contains(logged, part) {
			t.Errorf("the log has no %s: %s", part, logged)
		}
	}
	if _, err := b.run("run", "--rm", "place"); err != nil {
		t.Fatal(err)
	}
	for name, text := range before {
		if now, err := os.ReadFile(filepath.Join(files, name)); err != nil || string(now) != text {
			t.Errorf("another start changes %s: %v", name, err)
		}
	}
}

// peerListener holds that the published port has the routes of places alone, for the token alone.
func peerListener(t *testing.T, files string) {
	token, err := os.ReadFile(filepath.Join(files, placeToken))
	if err != nil {
		t.Fatal(err)
	}
	with := http.Header{"Authorization": {"Bearer " + strings.TrimSpace(string(token))}}
	wrong := http.Header{"Authorization": {"Bearer " + strings.Repeat("x", len(token)-1)}}
	for _, test := range []struct {
		method, path string
		header       http.Header
		status       int
	}{
		{http.MethodPost, "/peer/tools/dns-lookup", nil, http.StatusUnauthorized},
		{http.MethodPost, "/peer/tools/dns-lookup", wrong, http.StatusUnauthorized},
		{http.MethodGet, "/peer/ready", nil, http.StatusUnauthorized},
		{http.MethodGet, "/peer/ready", with, http.StatusOK},
		{http.MethodGet, "/", nil, http.StatusUnauthorized},
		{http.MethodGet, "/", with, http.StatusNotFound},
		{http.MethodPost, "/api/tools/dns-lookup", nil, http.StatusUnauthorized},
		{http.MethodPost, "/api/tools/dns-lookup", with, http.StatusNotFound},
		{http.MethodGet, "/readyz", with, http.StatusNotFound},
		{http.MethodGet, "/metrics", with, http.StatusNotFound},
	} {
		a, err := newVisitor().send(test.method, placeURL+test.path, nil, test.header)
		if err != nil {
			t.Fatal(err)
		}
		a.wants(t, fmt.Sprintf("%s %s, token %t", test.method, test.path, test.header != nil), test.status)
	}
}

// wrongToken has the first project's file hold another token for a while.
func wrongToken(t *testing.T) {
	path := filepath.Join(engine.world.dir, placeToken)
	right, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	reread := func(text []byte) {
		write(t, path, text)
		compose(t, "kill", "-s", "HUP", "gateway")
	}
	reread([]byte("a-token-of-another-place\n"))
	awaitPlace(t, "down", 30*time.Second)
	says(t, "gateway", "status 401")
	elsewhere(t, "dns-lookup", "lab-dns.com").wants(t, "a wrong token", http.StatusBadGateway, "Frankfurt")
	reread(right)
	awaitPlace(t, "ok", 30*time.Second)
}

// lostPlace ends the place's gateway, and starts it again.
func lostPlace(t *testing.T, b *stack) {
	id, err := b.container("gateway")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := output("docker", "kill", id); err != nil {
		t.Fatal(err)
	}
	t.Logf("lost after %v", awaitPlace(t, "down", 2*time.Second).Round(time.Millisecond))
	elsewhere(t, "dns-lookup", "lab-dns.com").wants(t, "a lost place", http.StatusBadGateway, "Frankfurt")
	run(t, "dns-lookup", "lab-dns.com", nil).wants(t, "here meanwhile", http.StatusOK)
	if _, err := output("docker", "start", id); err != nil {
		t.Fatal(err)
	}
	t.Logf("back after %v", awaitPlace(t, "ok", 30*time.Second).Round(time.Millisecond))
	elsewhere(t, "dns-lookup", "lab-dns.com").wants(t, "a place that is back", http.StatusOK)
}

// down leaves nothing of the project.
func (s *stack) down() {
	if _, err := s.run("down", "--volumes", "--remove-orphans"); err != nil {
		fmt.Fprintln(os.Stderr, "take down:", err)
	}
}

// closeWays deletes the rules of betweenProjects, those of a killed run too.
func closeWays() {
	for exec.Command("iptables", "-C", "DOCKER-USER", "-s", egressSubnet, "-d", placeSubnet, "-j", "ACCEPT").Run() == nil {
		if betweenProjects("-D") != nil {
			return
		}
	}
}
