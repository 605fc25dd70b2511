//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/daemon/daemontest/testca"
	"diagnostics/lab"
	"diagnostics/lab/internal/site"
	"diagnostics/shared/waittest"
)

// The tokens of the test, of which no log may hold a word.
const (
	oldToken = "old-token-0123456789"
	newToken = "new-token-0123456789"
)

// secured is a gateway and a worker that speak TLS with each other and demand certificates of each other, with all of
// it in files of its own.
type secured struct {
	*pair
	dir           string
	workerPrivate string // the worker's listener for metrics
	workerEnv     []string
	changes       map[string]float64 // how often each file was put to use so far
	turns         [4]atomic.Int64    // how many jobs each visitor has had
	over          atomic.Bool        // they have gone
	workers       *testca.Authority  // signs the worker's certificate
	gateways      *testca.Authority  // signs the gateway's
}

func startSecured(t *testing.T) *secured {
	t.Helper()
	s := &secured{dir: t.TempDir(), changes: map[string]float64{}}
	s.workers, s.gateways = testca.New(t, "workers 1"), testca.New(t, "gateways 1")
	addr := freeAddr(t, 8081)
	s.pair = &pair{worker: &lab.Server{Addr: addr}, private: freeAddr(t, 9090)}
	s.workerPrivate = freeAddr(t, 9091)
	s.write(t, "worker-token", []byte(oldToken+"\n"))
	s.write(t, "gateway-token", []byte(oldToken+"\n"))
	s.write(t, "worker-ca", s.workers.PEM())
	s.write(t, "client-ca", s.gateways.PEM())
	s.issue(t, "worker", s.workers, time.Hour)
	s.issue(t, "client", s.gateways, time.Hour)
	s.startWorker(t)
	var err error
	s.gateway, err = service.StartGateway(t.Context(), "gateway-rotation", append(
		unlimited[:len(unlimited):len(unlimited)],
		"DIAGNOSTICS_WORKER_URL=https://"+addr, "METRICS_LISTEN_ADDR="+s.private,
		"DIAGNOSTICS_WORKER_TOKEN=", "DIAGNOSTICS_WORKER_TOKEN_FILE="+s.path("gateway-token"),
		"DIAGNOSTICS_WORKER_CA_FILE="+s.path("worker-ca"),
		"DIAGNOSTICS_WORKER_CLIENT_CERT_FILE="+s.path("client.crt"),
		"DIAGNOSTICS_WORKER_CLIENT_KEY_FILE="+s.path("client.key"))...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *secured) startWorker(t *testing.T) {
	t.Helper()
	s.workerEnv = append([]string{
		"WORKER_LISTEN_ADDR=" + s.worker.Addr, "METRICS_LISTEN_ADDR=" + s.workerPrivate, "LOG_LEVEL=debug",
		"DIAGNOSTICS_WORKER_TOKEN_FILE=" + s.path("worker-token"),
		"WORKER_TLS_CERT_FILE=" + s.path("worker.crt"), "WORKER_TLS_KEY_FILE=" + s.path("worker.key"),
		"WORKER_TLS_CLIENT_CA_FILE=" + s.path("client-ca")}, workerOfOne...)
	s.worker.Process = startTLSWorker(t, "worker-rotation", s.workerEnv)
}

// startTLSWorker runs a worker that speaks TLS, and waits until it is healthy.
func startTLSWorker(t *testing.T, name string, env []string) *lab.Process {
	t.Helper()
	process, err := internet.Start(lab.ServiceHost, name, env, workerProgram)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	eventually(t, "the worker is healthy", func() bool { return healthcheck(t, name, env) == 0 })
	return process
}

// healthcheck is what the container's health check of a worker ends with.
func healthcheck(t *testing.T, name string, env []string) int {
	t.Helper()
	check, err := internet.Start(lab.ServiceHost, "healthcheck-of-"+name, env, workerProgram, "-healthcheck")
	if err != nil {
		t.Fatal(err)
	}
	<-check.Done()
	return check.ExitCode()
}

func (s *secured) path(name string) string { return filepath.Join(s.dir, name) }

// write replaces a file as an operator should: whole.
func (s *secured) write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(s.path("next"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.path("next"), s.path(name)); err != nil {
		t.Fatal(err)
	}
}

// issue replaces a certificate and then its key.
func (s *secured) issue(t *testing.T, name string, by *testca.Authority, until time.Duration) {
	t.Helper()
	host, _, _ := strings.Cut(s.worker.Addr, ":")
	certificate, key := by.Issue(t, until, host)
	s.write(t, name+".crt", certificate)
	s.write(t, name+".key", key)
}

func hangUp(t *testing.T, p *lab.Process) {
	t.Helper()
	if err := p.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

// taken waits until one change more of a file was put to use, or could not be.
func (s *secured) taken(t *testing.T, private, file, result string, within time.Duration) {
	t.Helper()
	name := fmt.Sprintf("diagnostics_reloads_total{file=%q,result=%q}", file, result)
	s.changes[private+name]++
	var got float64
	if !waittest.Within(within, func() bool {
		reported, err := internet.Metrics(t.Context(), private)
		if err != nil {
			t.Fatal(err)
		}
		got = reported[name]
		return got == s.changes[private+name]
	}) {
		t.Fatalf("%s is %v, want %v", name, got, s.changes[private+name])
	}
}

// soon is how long a change takes after a SIGHUP, with the second look at one that cannot be used; later without.
const (
	soon  = 5 * time.Second
	later = 20 * time.Second
)

// workerTakes has the worker take what was written, at once.
func (s *secured) workerTakes(t *testing.T, file string) {
	t.Helper()
	hangUp(t, s.worker.Process)
	s.taken(t, s.workerPrivate, file, "ok", soon)
	s.awaitVisitors(t)
}

// gatewayTakes is workerTakes for the gateway.
func (s *secured) gatewayTakes(t *testing.T, file string) {
	t.Helper()
	hangUp(t, s.gateway.Process)
	s.taken(t, s.private, file, "ok", soon)
	s.awaitVisitors(t)
}

// awaitVisitors waits until every job has ended that is under way: an operator waits between two steps as well.
func (s *secured) awaitVisitors(t *testing.T) {
	t.Helper()
	for i := range s.turns {
		enough := s.turns[i].Load() + 2
		eventually(t, "two answers more", func() bool { return s.turns[i].Load() >= enough || s.over.Load() })
	}
}

// Every secret and certificate between gateway and worker is replaced while jobs run, and none of them fails. What is
// broken changes nothing; who shows a certificate that is not trusted is refused, on either side, and logged.
func TestSecretsAndCertificatesAreRotatedUnderTraffic(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	s.says(t, "ok", 0, 0)
	jobs := startLoad(len(s.turns), func(visitor, _ int) answer {
		to, _ := lab.Clean(100 + visitor)
		defer s.turns[visitor].Add(1)
		return s.ask(t, "traceroute", to)
	})
	// Without a signal: the worker finds it by itself.
	s.issue(t, "worker", s.workers, time.Hour)
	s.taken(t, s.workerPrivate, "worker_certificate", "ok", later)

	s.write(t, "worker-token", []byte(newToken+","+oldToken+"\n"))
	s.workerTakes(t, "worker_token")
	s.write(t, "gateway-token", []byte(newToken+"\n"))
	s.gatewayTakes(t, "worker_token")
	s.write(t, "worker-token", []byte(newToken+"\n"))
	s.workerTakes(t, "worker_token")

	workers := testca.New(t, "workers 2")
	s.write(t, "worker-ca", append(s.workers.PEM(), workers.PEM()...))
	s.gatewayTakes(t, "worker_ca")
	s.issue(t, "worker", workers, time.Hour)
	s.workerTakes(t, "worker_certificate")
	s.write(t, "worker-ca", workers.PEM())
	s.gatewayTakes(t, "worker_ca")
	s.workers = workers

	gateways := testca.New(t, "gateways 2")
	s.write(t, "client-ca", append(s.gateways.PEM(), gateways.PEM()...))
	s.workerTakes(t, "worker_client_ca")
	s.issue(t, "client", gateways, time.Hour)
	s.gatewayTakes(t, "client_certificate")
	s.write(t, "client-ca", gateways.PEM())
	s.workerTakes(t, "worker_client_ca")
	s.gateways = gateways

	s.breakFiles(t)
	s.awaitVisitors(t)
	statuses, slowest := jobs.end()
	s.over.Store(true)
	t.Logf("jobs by status %v, none later than %d ms", statuses, slowest.Milliseconds())
	if statuses[http.StatusOK] < 10 || len(statuses) != 1 {
		t.Errorf("jobs by status %v: %s", statuses,
			linesWith(s.gateway.Process.Log(), `"level":"WARN"`, `"level":"ERROR"`))
	}
	s.says(t, "ok", 0, 0)
	s.holdsTheDoor(t)
	s.refusals(t)
	s.trustStaysAsItWas(t)
	s.saysNoSecret(t)
}

// breakFiles writes what cannot be used, and then what is good again.
func (s *secured) breakFiles(t *testing.T) {
	t.Helper()
	s.write(t, "worker-token", []byte("short\n"))
	s.write(t, "worker.key", []byte("no key"))
	s.write(t, "client-ca", nil)
	s.write(t, "worker-ca", s.workers.PEM()[:200])
	s.bothLook(t, "failed")
	if code := healthcheck(t, "worker-rotation", s.workerEnv); code != 0 {
		t.Errorf("the health check of a worker that goes on with its last certificate ends with %d", code)
	}
	s.write(t, "worker-token", []byte(newToken+"\n"))
	s.write(t, "client-ca", s.gateways.PEM())
	s.write(t, "worker-ca", s.workers.PEM())
	s.issue(t, "worker", s.workers, time.Hour)
	s.bothLook(t, "ok")
}

// bothLook has both look at what breakFiles has written.
func (s *secured) bothLook(t *testing.T, result string) {
	t.Helper()
	hangUp(t, s.worker.Process)
	hangUp(t, s.gateway.Process)
	for _, file := range []string{"worker_token", "worker_certificate", "worker_client_ca"} {
		s.taken(t, s.workerPrivate, file, result, soon)
	}
	s.taken(t, s.private, "worker_ca", result, soon)
}

// holdsTheDoor sends requests to the worker without a certificate.
func (s *secured) holdsTheDoor(t *testing.T) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: internet.Dial, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 403, "/api/ping": 403, "/": 403} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.worker.Addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+newToken)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s without a client certificate: %d, want %d", path, resp.StatusCode, want)
		}
	}
}

// refusals are of certificates that are not trusted: each is logged once, with the reason, and once more when it is
// over.
func (s *secured) refusals(t *testing.T) {
	t.Helper()
	stranger := testca.New(t, "strangers")
	for n, refused := range []struct {
		file, name  string
		by, trusted *testca.Authority
		until       time.Duration
		says        string
	}{
		{"client_certificate", "client", s.gateways, s.gateways, -time.Minute, "tls: expired certificate"},
		{"client_certificate", "client", stranger, s.gateways, time.Hour, "tls: unknown certificate authority"},
		{"worker_certificate", "worker", stranger, s.workers, time.Hour,
			"x509: certificate signed by unknown authority"},
	} {
		takes := s.gatewayTakes
		if refused.name == "worker" {
			takes = s.workerTakes
		}
		s.issue(t, refused.name, refused.by, refused.until)
		takes(t, refused.file)
		s.says(t, "down", n+1, n)
		to, _ := lab.Clean(100)
		if a := s.ask(t, "ping", to); a.Status != 502 || !strings.Contains(a.Error, "cannot be reached") {
			t.Errorf("%s: status %d: %s", refused.says, a.Status, a.Error)
		}
		if !strings.Contains(s.gateway.Process.Log(), refused.says) {
			t.Errorf("the log does not say %q", refused.says)
		}
		s.issue(t, refused.name, refused.trusted, time.Hour)
		takes(t, refused.file)
		s.says(t, "ok", n+1, n+1)
	}
}

// trustStaysAsItWas: what ssl-checker trusts has nothing to do with whom the gateway trusts to be its worker.
func (s *secured) trustStaysAsItWas(t *testing.T) {
	t.Helper()
	input := map[string]any{"input": "fast." + site.Zone}
	with, without := post(t, s.gateway, "ssl-checker", input, nil), post(t, service.Gateway, "ssl-checker", input, nil)
	if fmt.Sprint(with.at("trustStore")) != fmt.Sprint(without.at("trustStore")) || with.Status != 200 ||
		with.at("authorized") != true {
		t.Errorf("status %d: %v, and %v without", with.Status, with.at("trustStore"), without.at("trustStore"))
	}
	t.Logf("trust store with the worker's own authority: %v", with.at("trustStore"))
}

// saysNoSecret reads the logs, that of the worker as strictly as those of the service.
func (s *secured) saysNoSecret(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.worker.Process.Stop(ctx); err != nil {
		t.Error(err)
	}
	for _, finding := range strangeLines([]*lab.Process{s.worker.Process}) {
		t.Error(finding)
	}
	all := s.worker.Process.Log() + s.gateway.Process.Log()
	for _, secret := range []string{oldToken, newToken, "short", s.dir, "BEGIN"} {
		if strings.Contains(all, secret) {
			t.Errorf("a log holds %q", secret)
		}
	}
}

// linesWith are the lines of a log that hold one of some texts.
func linesWith(log string, texts ...string) (found []string) {
	for line := range strings.Lines(log) {
		for _, text := range texts {
			if strings.Contains(line, text) {
				found = append(found, line)
				break
			}
		}
	}
	return found
}
