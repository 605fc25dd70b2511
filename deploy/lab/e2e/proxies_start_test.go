//go:build e2e

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/shared/skiptest"
	"diagnostics/shared/waittest"
)

// The visitors of the proxies: the service's own host, by either family, since what happens before the proxy does not
// matter here. Their addresses are the ones that the connection shows.
const (
	visitor4 = "11.77.0.2"
	visitor6 = "2a10:77::2"
	siteName = "tools.example.com"
)

// entrance is where visitors come in: a proxy with some configuration, and the gateway behind it.
type entrance struct {
	name    string
	port    int
	tls     bool
	gateway *lab.Server
	// visitor is whose limit is tried here: no other entrance of the same gateway tries the same.
	visitor string
	// forgeable marks the combinations that CLIENT_ADDRESS_HEADER is there to end.
	forgeable bool
}

func (e entrance) url(visitor, path string) string {
	scheme := "http"
	if e.tls {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s%s", scheme, e.at(visitor), path)
}

func (e entrance) at(visitor string) string { return net.JoinHostPort(visitor, fmt.Sprint(e.port)) }

// proxies are Caddy and nginx with their own configuration and with deploy/proxies', all in one process each.
type proxies struct {
	entrances []entrance
	// cloudflare is nginx with cloudflare-nginx.conf; visitor4 stands in for Cloudflare.
	cloudflare entrance
	// collecting is an nginx that keeps an answer until it is whole, whatever the gateway's headers say.
	collecting entrance
	// compressing are proxies that compress; nginx does it with streams too.
	compressing []entrance
	// edge is the certificate that Cloudflare shows to that nginx.
	edge tls.Certificate
}

// gatewayAt is the address that the files of deploy/proxies send requests to.
const gatewayAt = "127.0.0.1:8080"

// startProxies runs everything once for all tests; it ends with the lab.
var startProxies = sync.OnceValues(func() (*proxies, error) {
	ctx := context.Background()
	dir := filepath.Join(internet.Dir(), "proxies")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	files, edge, err := certificates(dir)
	if err != nil {
		return nil, err
	}
	g, err := startProxied(ctx)
	if err != nil {
		return nil, err
	}
	p := &proxies{edge: edge, cloudflare: entrance{port: 8244, tls: true, gateway: g["nginx"]},
		collecting: entrance{port: 8287, gateway: g["unnamed"]}}
	p.entrances = []entrance{
		{"our Caddy", 8143, true, g["caddy"], visitor4, false},
		{"our nginx", 8243, true, g["nginx"], visitor4, false},
		{"stock Caddy, x-forwarded-for", 8181, false, g["last"], visitor4, false},
		{"stock nginx, x-real-ip", 8281, false, g["nginx"], visitor6, false},
		{"stock nginx, x-forwarded-for", 8282, false, g["last"], visitor6, false},
		{"stock nginx twice, x-forwarded-for", 8283, false, g["second"], visitor4, false},
		{"stock Caddy, no header named", 8182, false, g["unnamed"], visitor4, true},
		{"stock nginx, no header named", 8284, false, g["unnamed"], visitor4, true},
		{"nginx with proxy_pass alone, no header named", 8285, false, g["unnamed"], visitor4, true},
	}
	p.compressing = []entrance{
		{name: "Caddy with encode", port: 8183, gateway: g["unnamed"], visitor: visitor4},
		{name: "nginx with gzip", port: 8288, gateway: g["unnamed"], visitor: visitor4},
	}
	if err := startCaddy(dir, files, g); err != nil {
		return nil, err
	}
	if err := startNginx(dir, files, g); err != nil {
		return nil, err
	}
	return p, p.await(ctx)
})

func needProxies(t *testing.T) *proxies {
	t.Helper()
	for _, program := range []string{"caddy", "nginx"} {
		if _, err := exec.LookPath(program); err != nil {
			skiptest.Skip(t, program+" is not installed here; .ci/run installs it")
		}
	}
	p, err := startProxies()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// startProxied runs the gateways behind the proxies. One client may take thirty samples, and anything else.
func startProxied(ctx context.Context) (map[string]*lab.Server, error) {
	limits := append(slices.Clone(unlimited), "RATE_LIMIT_SAMPLES=30", "RATE_LIMIT_WINDOW=1h", "ENABLE_WORKER_TOOLS=false")
	trusted := []string{"TRUST_PROXY_HEADERS=true", "TRUSTED_PROXY_CIDRS=127.0.0.1/32"}
	last := append(slices.Clone(trusted), "CLIENT_ADDRESS_HEADER=x-forwarded-for")
	second := append(slices.Clone(last), "TRUSTED_PROXY_HOPS=2")
	settings := map[string][]string{"unnamed": trusted, "last": last, "second": second}
	for _, name := range []string{"caddy", "nginx"} {
		env, err := documented(name + ".env")
		if err != nil {
			return nil, err
		}
		settings[name] = env
	}
	gateways := map[string]*lab.Server{}
	for name, env := range settings {
		g, err := service.StartGateway(ctx, "gateway-behind-"+name, append(slices.Clone(limits), env...)...)
		if err != nil {
			return nil, err
		}
		gateways[name] = g
	}
	return gateways, nil
}

// documented reads settings of deploy/proxies, all but the listener's: every gateway here has its own.
func documented(name string) (env []string, err error) {
	text, err := os.ReadFile(filepath.Join("..", "..", "proxies", name))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "GATEWAY_LISTEN_ADDR="+gatewayAt {
			continue
		}
		if line != "" && !strings.HasPrefix(line, "#") {
			env = append(env, line)
		}
	}
	return env, nil
}

// fitted is a file of deploy/proxies with the lab's addresses and files in place of its own: pairs of what must stand
// in it, and what stands there then.
func fitted(name string, pairs ...string) (string, error) {
	read, err := os.ReadFile(filepath.Join("..", "..", "proxies", name))
	if err != nil {
		return "", err
	}
	text := string(read)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			return "", fmt.Errorf("%s has no %q", name, pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text, nil
}

func startCaddy(dir string, files map[string]string, g map[string]*lab.Server) error {
	config, err := fitted("Caddyfile",
		"{\n\tservers {", "{\n\tadmin off\n\thttp_port 8180\n\thttps_port 8143\n\tservers {",
		siteName+"} {", siteName+"} {\n\ttls "+files["cert"]+" "+files["key"],
		gatewayAt, g["caddy"].Addr)
	if err != nil {
		return err
	}
	for port, name := range map[int]string{8181: "last", 8182: "unnamed"} {
		config += fmt.Sprintf("\nhttp://:%d {\n\treverse_proxy %s\n}\n", port, g[name].Addr)
	}
	config += fmt.Sprintf("\nhttp://:8183 {\n\tencode gzip zstd\n\treverse_proxy %s\n}\n", g["unnamed"].Addr)
	path := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		return err
	}
	program, err := exec.LookPath("caddy")
	if err != nil {
		return err
	}
	home := []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}
	_, err = internet.Start(lab.ServiceHost, "caddy", home, program, "run", "--adapter", "caddyfile", "--config", path)
	return err
}

// nginxFrame holds the files of deploy/proxies as Debian's nginx.conf would, in one process.
const nginxFrame = `daemon off; master_process off; worker_rlimit_nofile 4096; pid %[1]s/nginx.pid; error_log %[1]s/nginx-error.log;
events { worker_connections 1024; }
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
%[2]s
}
`

// stockNginx is what most guides show, with Debian's own file of headers.
const stockNginx = `
server {
	listen %[1]d; listen [::]:%[1]d;
	location / { proxy_pass http://%[2]s; include /etc/nginx/proxy_params; }
}
`

// compressingNginx is stockNginx with what guides on compression add, for streams as well.
const compressingNginx = `
server {
	listen %[1]d; listen [::]:%[1]d;
	gzip on; gzip_proxied any; gzip_types application/json application/x-ndjson;
	location / { proxy_pass http://%[2]s; include /etc/nginx/proxy_params; }
}
`

const collectingNginx = `
server {
	listen %[1]d;
	location / {
		proxy_pass http://%[2]s;
		proxy_set_header Host $http_host;
		proxy_buffering on;
		proxy_ignore_headers X-Accel-Buffering;
	}
}
`

func startNginx(dir string, files map[string]string, g map[string]*lab.Server) error {
	fit := func(port int, more ...string) (string, error) {
		return fitted("nginx.conf", append([]string{
			"listen 80;", fmt.Sprintf("listen %d;", port+1000), "[::]:80;", fmt.Sprintf("[::]:%d;", port+1000),
			"listen 443 ", fmt.Sprintf("listen %d ", port), "[::]:443 ", fmt.Sprintf("[::]:%d ", port),
			"/etc/letsencrypt/live/tools.example.com/fullchain.pem", files["cert"],
			"/etc/letsencrypt/live/tools.example.com/privkey.pem", files["key"],
			gatewayAt, g["nginx"].Addr}, more...)...)
	}
	ours, err := fit(8243)
	if err != nil {
		return err
	}
	snippet, err := fitted("cloudflare-nginx.conf", "/etc/nginx/origin-pull-ca.pem", files["edge"],
		"set_real_ip_from 173.245.48.0/20;", "set_real_ip_from "+visitor4+"/32;")
	if err != nil {
		return err
	}
	cloudflare, err := fit(8244, "diagnostics_gateway", "diagnostics_gateway_cloudflare",
		"    location / {", snippet+"    location / {")
	if err != nil {
		return err
	}
	servers := ours + cloudflare
	for port, name := range map[int]string{8281: "nginx", 8282: "last", 8284: "unnamed", 8286: "second"} {
		servers += fmt.Sprintf(stockNginx, port, g[name].Addr)
	}
	servers += fmt.Sprintf(stockNginx, 8283, "127.0.0.1:8286")
	servers += strings.Replace(fmt.Sprintf(stockNginx, 8285, g["unnamed"].Addr), "include /etc/nginx/proxy_params;", "", 1)
	servers += fmt.Sprintf(compressingNginx, 8288, g["unnamed"].Addr)
	servers += fmt.Sprintf(collectingNginx, 8287, g["unnamed"].Addr)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, fmt.Appendf(nil, nginxFrame, dir, servers), 0o644); err != nil {
		return err
	}
	program, err := exec.LookPath("nginx")
	if err != nil {
		return err
	}
	log := filepath.Join(dir, "nginx-error.log")
	_, err = internet.Start(lab.ServiceHost, "nginx", nil, program, "-c", path, "-e", log)
	return err
}

// certificates writes the site's certificate and the one that stands in for Cloudflare's.
func certificates(dir string) (files map[string]string, edge tls.Certificate, err error) {
	files = map[string]string{}
	for _, name := range []string{siteName, "edge"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, edge, err
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
			DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			return nil, edge, err
		}
		private, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			return nil, edge, err
		}
		certFile, keyFile := filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
		certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
		keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
		err = errors.Join(os.WriteFile(certFile, certPEM, 0o644), os.WriteFile(keyFile, keyPEM, 0o600))
		if err != nil {
			return nil, edge, err
		}
		if name == "edge" {
			files["edge"] = certFile
			edge = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
			continue
		}
		files["cert"], files["key"] = certFile, keyFile
	}
	return files, edge, nil
}

// visitors is a client of the proxies over HTTP/1.1, or over HTTP/2 where the entrance has it; with or without a
// certificate.
func visitors(http2 bool, certificate ...tls.Certificate) *http.Client {
	return &http.Client{
		Timeout: 20 * time.Second,
		Transport: &http.Transport{
			DialContext:         internet.Dial,
			ForceAttemptHTTP2:   http2,
			MaxIdleConnsPerHost: 64,
			// The certificate is this test's own; whom it names is not what is tested.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: siteName, Certificates: certificate},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// await waits until each entrance leads to its gateway.
func (p *proxies) await(ctx context.Context) error {
	client := visitors(false)
	defer client.CloseIdleConnections()
	for _, e := range p.entrances {
		var a answer
		var err error
		if !waittest.Within(5*time.Second, func() bool {
			a, err = e.ask(ctx, client, visitor4, "my-ip", "", nil)
			return err == nil && a.Status == http.StatusOK
		}) {
			return fmt.Errorf("%s: status %d, %w: %.200s", e.name, a.Status, err, a.Body)
		}
	}
	return nil
}

// ask runs a tool through the entrance, with header lines exactly as they are spelled.
func (e entrance) ask(ctx context.Context, c *http.Client, visitor, slug, input string, more lines) (answer, error) {
	body, err := json.Marshal(map[string]string{"input": input})
	if err != nil {
		return answer{}, err
	}
	more = append(slices.Clone(more), [2]string{"Content-Type", "application/json"})
	return e.send(ctx, c, http.MethodPost, e.url(visitor, "/api/tools/"+slug), string(body), more)
}

func (e entrance) get(ctx context.Context, c *http.Client, visitor, path string, more lines) (answer, error) {
	return e.send(ctx, c, http.MethodGet, e.url(visitor, path), "", more)
}

func (e entrance) send(ctx context.Context, c *http.Client, method, url, body string, more lines) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Host = siteName
	for _, line := range more {
		req.Header[line[0]] = append(req.Header[line[0]], line[1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	a := answer{Status: resp.StatusCode, Header: resp.Header}
	if a.Body, err = io.ReadAll(resp.Body); err != nil {
		return answer{}, err
	}
	var top struct{ Data any }
	if json.Unmarshal(a.Body, &top) == nil {
		a.Data = top.Data
	}
	return a, nil
}

// protocols has for each protocol that the entrance speaks whether it is HTTP/2.
func (e entrance) protocols() []bool {
	if e.tls {
		return []bool{false, true}
	}
	return []bool{false}
}

// refusedByProxy reports whether the proxy refused the request itself, which it may for odd ones.
func refusedByProxy(a answer) bool { return a.Status/100 == 4 && a.Header.Get("X-Request-Id") == "" }
