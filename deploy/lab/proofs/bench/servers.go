package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/site"

	"github.com/miekg/dns"
)

// Where the servers listen on the service's host.
const (
	gatewayAddr  = "127.77.0.3:8080"
	metricsAddr  = "127.77.0.3:9090"
	exporterAddr = "127.77.0.4:9115"
	bareAddr     = "127.77.0.5:8080"
)

// rivals are the servers that the load compares.
type rivals struct {
	gateway, exporter, bare *lab.Process
}

// startRivals runs all three; those that it gives are running, also where it fails.
func (b *bench) startRivals(ctx context.Context) (r rivals, err error) {
	if r.gateway, err = b.startGateway(ctx, nil); err != nil {
		return r, err
	}
	if r.exporter, err = b.startExporter(ctx); err != nil {
		return r, err
	}
	r.bare, err = b.startBare(ctx, map[string]string{"my-ip": "", "dns-lookup": cachedName})
	return r, err
}

func (r rivals) kill() {
	for _, p := range []*lab.Process{r.gateway, r.exporter, r.bare} {
		if p != nil {
			p.Kill()
		}
	}
}

// startTarget runs the target's servers, in a process of their own.
func (b *bench) startTarget(ctx context.Context) error {
	ca, err := site.NewCA()
	if err != nil {
		return err
	}
	pair, err := ca.Issue("*."+loadZone, loadZone)
	if err != nil {
		return err
	}
	certificate := filepath.Join(b.lab.Dir(), "target.pem")
	if err := errors.Join(os.WriteFile(b.lab.RootsFile(), ca.RootPEM(), 0o644),
		os.WriteFile(certificate, pair, 0o600)); err != nil {
		return err
	}
	p, err := b.lab.Start(lab.NearHost, "target", nil, b.self, roleTarget, certificate)
	if err != nil {
		return err
	}
	// The resolver's address is also one of its own host's, and the web servers listen on all of them.
	return b.answers(ctx, p, "http://11.77.53.1/")
}

// limits are on and refuse nothing.
var limits = []string{
	"RATE_LIMIT_REQUESTS=1000000", "RATE_LIMIT_CLIENT_REQUESTS=10000000", "RATE_LIMIT_TARGET_REQUESTS=10000000",
	"RATE_LIMIT_ADDRESS_REQUESTS=100000000", "RATE_LIMIT_PAGES=10000000",
	"MAX_IN_FLIGHT=2000", "MAX_IN_FLIGHT_PER_CLIENT=2000",
}

// startGateway runs the gateway with everything on that an operator would have on: every limit, the client's address by
// a proxy's header, metrics, a line in the log for each request, and the memory settings of docker-compose.yml. The
// others are settings and variables of its environment.
func (b *bench) startGateway(ctx context.Context, g *lab.MemoryGroup, others ...string) (*lab.Process, error) {
	env := append([]string{
		"GATEWAY_LISTEN_ADDR=" + gatewayAddr, "METRICS_LISTEN_ADDR=" + metricsAddr, "LOG_LEVEL=info",
		"GOGC=200", "GOMEMLIMIT=448MiB", "DNS_RESOLVERS=" + nameServer, "SSL_CERT_FILE=" + b.lab.RootsFile(),
		"TRUST_PROXY_HEADERS=true",
		"CLIENT_ADDRESS_HEADER=x-real-ip", "TRUSTED_PROXY_CIDRS=127.0.0.0/8",
		"AUDIT_LOG_FILE=" + filepath.Join(b.lab.Dir(), "audit.log"),
	}, append(limits, others...)...)
	p, err := b.lab.StartIn(g, lab.ServiceHost, "gateway", env, b.options.gateway)
	if err != nil {
		return nil, err
	}
	return p, b.answers(ctx, p, "http://"+gatewayAddr+"/readyz")
}

// dnsTypes are the seven that dns-lookup queries.
var dnsTypes = []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeMX, dns.TypeTXT, dns.TypeCNAME, dns.TypeNS, dns.TypeSOA}

// modules are the exporter's configuration. Without validation of anything: all that a probe costs is the probe.
func modules() string {
	var b strings.Builder
	b.WriteString("modules:\n  http_2xx:\n    prober: http\n    http:\n      preferred_ip_protocol: ip4\n" +
		"  tcp_connect:\n    prober: tcp\n    tcp:\n      preferred_ip_protocol: ip4\n")
	for i, qtype := range dnsTypes {
		fmt.Fprintf(&b, "  dns%d:\n    prober: dns\n    dns:\n      query_name: d0.%s\n      query_type: %s\n"+
			"      preferred_ip_protocol: ip4\n", i, loadZone, dns.TypeToString[qtype])
	}
	return b.String()
}

func (b *bench) startExporter(ctx context.Context) (*lab.Process, error) {
	config := filepath.Join(b.lab.Dir(), "exporter.yml")
	if err := os.WriteFile(config, []byte(modules()), 0o644); err != nil {
		return nil, err
	}
	p, err := b.lab.Start(lab.ServiceHost, "exporter", []string{"SSL_CERT_FILE=" + b.lab.RootsFile()}, exporter,
		"--config.file="+config, "--web.listen-address="+exporterAddr)
	if err != nil {
		return nil, err
	}
	return p, b.answers(ctx, p, "http://"+exporterAddr+"/-/healthy")
}

// exporter is the rival's name as Debian has it.
const exporter = "/usr/bin/prometheus-blackbox-exporter"

// startBare runs the bare server with answers of the gateway: those that it gives to each request now.
func (b *bench) startBare(ctx context.Context, inputs map[string]string) (*lab.Process, error) {
	answers := map[string]recorded{}
	for slug, input := range inputs {
		path := "/api/tools/" + slug
		var answer recorded
		for range 2 { // the second comes from the caches
			var err error
			if answer, err = b.post(ctx, path, input); err != nil {
				return nil, err
			}
		}
		answers[path] = answer
	}
	text, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.lab.Dir(), "bare.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return nil, err
	}
	p, err := b.lab.Start(lab.ServiceHost, "bare", nil, b.self, roleBare, bareAddr, file)
	if err != nil {
		return nil, err
	}
	return p, b.answers(ctx, p, "http://"+bareAddr+"/")
}

// post sends one request to the gateway.
func (b *bench) post(ctx context.Context, path, input string) (recorded, error) {
	body := fmt.Sprintf(`{"input":%q}`, input)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+gatewayAddr+path, strings.NewReader(body))
	if err != nil {
		return recorded{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Real-IP", "11.7.0.1")
	text, header, err := b.do(r)
	for _, own := range []string{"Date", "Content-Length"} { // the server sets these itself
		header.Del(own)
	}
	return recorded{Header: header, Body: text}, err
}

// answers waits until a server answers at all.
func (b *bench) answers(ctx context.Context, p *lab.Process, url string) error {
	for range 500 {
		if b.responds(ctx, url) {
			return nil
		}
		select {
		case <-p.Done():
			return fmt.Errorf("%s ended at its start: %s %s", p.Name(), p.Log(), p.Errors())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s does not answer", p.Name())
}

func (b *bench) responds(ctx context.Context, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	resp, err := b.client.Do(r)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return true
}
