//go:build compose

package compose

import (
	"errors"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	upProject = project + "-up"
	// upName is a name of the lab's DNS that leads to hostAddress.
	upName      = "tools.lab-dns.com"
	upPublished = "127.0.0.1:18095"
)

// freshHost copies the repository to a host that visitors reach at hostAddress. It takes the place down and uses the
// place's networks, and it uses the images that the engine's project has built.
func freshHost(t *testing.T) *stack {
	t.Helper()
	caddyImage(t)
	s := engine.place()
	s.root, s.files = t.TempDir(), nil
	s.env = map[string]string{"COMPOSE_PROJECT_NAME": upProject, "GATEWAY_PUBLISH": upPublished, "SHUTDOWN_DELAY": "0s",
		"MAX_IN_FLIGHT": "128"} // needs fewer open files than any engine allows
	for _, name := range []string{"VERSION", "COMMIT", "DNS_RESOLVERS"} {
		s.env[name] = engine.env[name]
	}
	maps.Copy(s.env, map[string]string{"DIAGNOSTICS_SUBNET": placeSubnet,
		"DIAGNOSTICS_WORKER_SUBNET": placeWorkerSubnet, "DIAGNOSTICS_REDIS_SUBNET": placeRedisSubnet})
	copied := exec.Command("bash", "-euo", "pipefail", "-c",
		`git ls-files -z -- . ':!docs' ':!deploy/lab' | tar --null --files-from - --create | tar --extract --directory "$0"`, s.root)
	copied.Dir = engine.root
	authority := t.TempDir()
	key := exec.Command("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
		"-days", "2", "-subj", "/CN=Authority of the lab", "-keyout", "ca.key", "-out", "ca.pem")
	key.Dir = authority
	for _, c := range []*exec.Cmd{copied, key} {
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, out)
		}
	}
	// Caddy is its own authority, with a root that this host trusts.
	s.edit(t, "deploy/proxies/Caddyfile", "{\n\tservers {",
		"{\n\tlocal_certs\n\tskip_install_trust\n\tpki {\n\t\tca local {\n"+
			"\t\t\troot {\n\t\t\t\tcert /authority/ca.pem\n\t\t\t\tkey /authority/ca.key\n\t\t\t}\n\t\t}\n\t}\n\tservers {")
	s.edit(t, tlsOverlay, `"caddy-config:/config"`, `"caddy-config:/config", "`+authority+`:/authority:ro"`)
	t.Setenv("CURL_CA_BUNDLE", filepath.Join(authority, "ca.pem"))
	t.Cleanup(s.down)
	return s
}

// edit replaces a part of a file of the copy.
func (s *stack) edit(t *testing.T, file, old, instead string) {
	t.Helper()
	path := filepath.Join(s.root, file)
	text, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(text), old) {
		err = errors.New("no " + old)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(text), old, instead, 1)), 0o644)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// upScript runs deploy/up.sh, which must end as wanted and print the parts.
func (s *stack) upScript(t *testing.T, ok bool, args []string, parts ...string) {
	t.Helper()
	cmd := exec.CommandContext(s.ctx, filepath.Join(s.root, "deploy/up.sh"), args...)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	t.Logf("up.sh %s: %v, after %v\n%s", strings.Join(args, " "), err, time.Since(begin).Round(time.Second), out)
	if (err == nil) != ok {
		t.Fatal("it must not end like this")
	}
	for _, part := range parts {
		if !strings.Contains(string(out), part) {
			t.Errorf("no %q", part)
		}
	}
}

// deploy/up.sh says what is wrong on a host and changes nothing that is set, and brings the service to the internet
// once it is right.
func TestUp(t *testing.T) {
	s := freshHost(t)
	written := "# mine\nCONTACT_URL=mailto:kept@example.com\n"
	for _, name := range slices.Sorted(maps.Keys(s.env)) {
		written += name + "=" + s.env[name] + "\n"
	}
	written = strings.TrimSuffix(written, "\n")
	env := filepath.Join(s.root, ".env")
	if err := os.WriteFile(env, []byte(written), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{upName, "noc@example.com"}
	s.upScript(t, false, []string{"https://" + upName, "noc@example.com"}, "is no domain name")
	s.upScript(t, false, []string{upName, "noc"}, "is no e-mail address")

	taken, err := net.Listen("tcp", hostAddress+":443")
	if err != nil {
		t.Fatal(err)
	}
	s.upScript(t, false, []string{"nowhere.lab-dns.com", "noc@example.com"},
		"wrote PUBLIC_DOMAIN=nowhere.lab-dns.com", "kept CONTACT_URL=mailto:kept@example.com",
		"port 443 is taken", hostAddress+":443", "compose.test")
	taken.Close()
	s.upScript(t, false, []string{"nowhere.lab-dns.com", "noc@example.com"},
		"nowhere.lab-dns.com has no A record", hostAddress, `{"status":"ready","redis":"ok","worker":"ok"}`)
	s.upScript(t, false, args, ".env has PUBLIC_DOMAIN=nowhere.lab-dns.com, and you say "+upName)
	s.edit(t, ".env", "PUBLIC_DOMAIN=nowhere.lab-dns.com", "PUBLIC_DOMAIN="+upName)
	whole := []string{"ports: 80 and 443 are free", "open files: enough", upName + " leads to " + hostAddress +
		", which is this host", "it has no AAAA record", "certificate: valid", `change nothing ("ip":"` + hostAddress + `")`,
		"this host as a target: " + hostAddress + " is refused", "https://" + upName + "/"}
	s.upScript(t, true, args, whole...)
	after, err := os.ReadFile(env)
	if err != nil {
		t.Fatal(err)
	}
	want := written + "\nPUBLIC_DOMAIN=" + upName + "\nCOMPOSE_FILE=docker-compose.yml:" + tlsOverlay + "\n"
	if string(after) != want {
		t.Errorf(".env is\n%s\nwant\n%s", after, want)
	}
	running := func() string {
		all, err := output("docker", "ps", "--quiet", "--filter", "label=com.docker.compose.project="+upProject)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := running()
	whole[0] = "Caddy of this project has 80 and 443"
	s.upScript(t, true, args, whole...)
	again, err := os.ReadFile(env)
	if now := running(); err != nil || now != before || string(again) != string(after) {
		t.Errorf("a second run has changed something: %q, then %q; %v\n%s", before, now, err, again)
	}
}
