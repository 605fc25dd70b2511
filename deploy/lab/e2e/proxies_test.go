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
	p := &proxies{edge: edge, cloudflare: entrance{name: "Cloudflare, then nginx", port: 8244, tls: true, gateway: g["nginx"]}}
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
			t.Skipf("%s is not installed here; .ci/run installs it", program)
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
	settings := map[string][]string{"unnamed": trusted, "last": last, "second": append(slices.Clone(last), "TRUSTED_PROXY_HOPS=2")}
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

// fitted is a file of deploy/proxies with the lab's addresses and files in place of its own: pairs of what must stand in
// it, and what stands there then.
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
		siteName+" {", siteName+" {\n\ttls "+files["cert"]+" "+files["key"],
		gatewayAt, g["caddy"].Addr)
	if err != nil {
		return err
	}
	for port, name := range map[int]string{8181: "last", 8182: "unnamed"} {
		config += fmt.Sprintf("\nhttp://:%d {\n\treverse_proxy %s\n}\n", port, g[name].Addr)
	}
	path := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		return err
	}
	program, err := exec.LookPath("caddy")
	if err != nil {
		return err
	}
	_, err = internet.Start(lab.ServiceHost, "caddy", []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir},
		program, "run", "--adapter", "caddyfile", "--config", path)
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
	cloudflare, err := fit(8244, "diagnostics_gateway", "diagnostics_gateway_cloudflare", "    location / {", snippet+"    location / {")
	if err != nil {
		return err
	}
	servers := ours + cloudflare
	for port, name := range map[int]string{8281: "nginx", 8282: "last", 8284: "unnamed", 8286: "second"} {
		servers += fmt.Sprintf(stockNginx, port, g[name].Addr)
	}
	servers += fmt.Sprintf(stockNginx, 8283, "127.0.0.1:8286")
	servers += strings.Replace(fmt.Sprintf(stockNginx, 8285, g["unnamed"].Addr), "include /etc/nginx/proxy_params;", "", 1)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, fmt.Appendf(nil, nginxFrame, dir, servers), 0o644); err != nil {
		return err
	}
	program, err := exec.LookPath("nginx")
	if err != nil {
		return err
	}
	_, err = internet.Start(lab.ServiceHost, "nginx", nil, program, "-c", path, "-e", filepath.Join(dir, "nginx-error.log"))
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
		template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
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
		if err := os.WriteFile(certFile, certPEM, 0o644); err != nil {
			return nil, edge, err
		}
		if err := os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600); err != nil {
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
		var err error
		for range 250 {
			var a answer
			if a, err = e.ask(ctx, client, visitor4, "my-ip", "", nil); err == nil && a.Status != http.StatusOK {
				err = fmt.Errorf("status %d: %.200s", a.Status, a.Body)
			}
			if err == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}

// ask runs a tool through the entrance, with header lines exactly as they are spelled.
func (e entrance) ask(ctx context.Context, client *http.Client, visitor, slug, input string, lines [][2]string) (answer, error) {
	body, err := json.Marshal(map[string]string{"input": input})
	if err != nil {
		return answer{}, err
	}
	lines = append(slices.Clone(lines), [2]string{"Content-Type", "application/json"})
	return e.send(ctx, client, http.MethodPost, visitor, "/api/tools/"+slug, string(body), lines)
}

func (e entrance) send(ctx context.Context, client *http.Client, method, visitor, path, body string, lines [][2]string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, e.url(visitor, path), strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Host = siteName
	for _, line := range lines {
		req.Header[line[0]] = append(req.Header[line[0]], line[1])
	}
	resp, err := client.Do(req)
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

// protocols tells for each protocol that the entrance speaks whether it is HTTP/2.
func (e entrance) protocols() []bool {
	if e.tls {
		return []bool{false, true}
	}
	return []bool{false}
}

// refusedByProxy tells the refusal of a proxy, which may find a request odd, from an answer of the gateway.
func refusedByProxy(a answer) bool { return a.Status/100 == 4 && a.Header.Get("X-Request-Id") == "" }

// forgery is what a visitor sends who wants to be taken for another.
type forgery struct {
	name string
	// lines gives the header lines that claim an address.
	lines func(claimed string) [][2]string
}

// line is one header line; %s in its value is the claimed address.
func line(name, format string) forgery {
	return forgery{name + ": " + strings.ReplaceAll(format, "%s", "…"), func(claimed string) [][2]string {
		return [][2]string{{name, strings.ReplaceAll(format, "%s", claimed)}}
	}}
}

// together are several forgeries at once, as lines of one request.
func together(name string, several ...forgery) forgery {
	return forgery{name, func(claimed string) (lines [][2]string) {
		for _, f := range several {
			lines = append(lines, f.lines(claimed)...)
		}
		return lines
	}}
}

func forgeries() []forgery {
	names := []string{"CF-Connecting-IP", "X-Real-IP", "X-Forwarded-For", "True-Client-IP", "X-Client-IP", "X-Cluster-Client-IP",
		"Fly-Client-IP", "CF-Connecting-IPv6", "X-Original-Forwarded-For", "X-Envoy-External-Address", "x-ReAl-iP", "cf-CONNECTING-ip",
		"X_Real_IP", "X_Forwarded_For", "CF_Connecting_IP", "X.Real.IP"}
	all := []forgery{line("Forwarded", "for=%s"), line("Forwarded", `for="%s:80";proto=https;by=127.0.0.1`)}
	for _, name := range names {
		all = append(all, line(name, "%s"))
	}
	for _, name := range []string{"CF-Connecting-IP", "X-Real-IP", "X-Forwarded-For"} {
		one := line(name, "%s")
		all = append(all, line(name, "::ffff:%s"), line(name, "%s:80"), line(name, "[::ffff:%s]"), line(name, "%s, 127.0.0.1"),
			line(name, "%s,"), line(name, ", %s"), line(name, ""), together(name+" twice", one, one),
			together(name+" twice, in two spellings", one, line(strings.ToLower(name), "%s")),
			together(name+" taken away by Connection", one, line("Connection", name)),
			line(name, strings.Repeat("10.0.0.1, ", 600)+"%s"))
	}
	hundred := make([]forgery, 100)
	for i := range hundred {
		hundred[i] = line("X-Forwarded-For", "%s")
	}
	everything := []forgery{}
	for _, name := range names {
		everything = append(everything, line(name, "%s"))
	}
	return append(all, together("a hundred lines of X-Forwarded-For", hundred...), together("everything", everything...),
		together("everything taken away by Connection", append(everything, line("Connection", strings.Join(names, ", ")))...))
}

// claimed is a public address that nobody has here.
func claimed(n int) string { return fmt.Sprintf("9.9.%d.%d", 100+n/250, 1+n%250) }

// fits tells whether HTTP/2 can carry the lines: it has no Connection.
func fits(lines [][2]string) bool {
	return !slices.ContainsFunc(lines, func(l [2]string) bool { return l[0] == "Connection" })
}

// Whatever a visitor sends, he is who the connection shows. The same requests through the same proxies are forged where
// no header is named.
func TestNoForgedAddressThroughProxies(t *testing.T) {
	p := needProxies(t)
	for _, e := range p.entrances {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			told, forged := 0, 0
			for _, http2 := range e.protocols() {
				client := visitors(http2)
				defer client.CloseIdleConnections()
				for i, f := range forgeries() {
					lines := f.lines(claimed(i))
					if http2 && !fits(lines) {
						continue
					}
					for _, visitor := range []string{visitor4, visitor6} {
						a, err := e.ask(t.Context(), client, visitor, "my-ip", "", lines)
						if err != nil {
							t.Fatalf("%s: %v", f.name, err)
						}
						if refusedByProxy(a) {
							continue
						}
						told++
						if a.at("ip") == visitor {
							continue
						}
						forged++
						if !e.forgeable {
							t.Errorf("%s of %s: my-ip says %v: %.300s", f.name, visitor, a.at("ip"), a.Body)
						}
					}
				}
			}
			if e.forgeable && forged == 0 || told < 100 {
				t.Errorf("%d of %d were not taken for who they are", forged, told)
			}
			t.Logf("%d of %d were not taken for who they are", forged, told)
		})
	}
}

// The reason why addresses matter: forty requests with forty addresses against a limit of thirty.
func TestForgedAddressesDoNotEscapeTheLimit(t *testing.T) {
	p := needProxies(t)
	const limit, requests = 30, 40
	all := forgeries()
	ways := []forgery{line("CF-Connecting-IP", "%s"), line("X-Real-IP", "%s"), line("X-Forwarded-For", "%s"),
		line("X-Forwarded-For", "%s, 127.0.0.1"), all[len(all)-2]}
	for _, e := range p.entrances {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			client := visitors(false)
			defer client.CloseIdleConnections()
			want, used := limit, ways
			if e.forgeable {
				want, used = requests, ways[:1]
			}
			passed := 0
			for i := range requests {
				lines := used[i%len(used)].lines(claimed(i))
				a, err := e.send(t.Context(), client, http.MethodGet, e.visitor, "/api/connection/ping", "", lines)
				if err != nil {
					t.Fatal(err)
				}
				if a.Status == http.StatusOK {
					passed++
				} else if a.Status != http.StatusTooManyRequests {
					t.Fatalf("status %d: %.300s", a.Status, a.Body)
				}
			}
			if passed != want {
				t.Errorf("%d of %d passed a limit of %d, want %d", passed, requests, limit, want)
			}
		})
	}
}

// Behind Cloudflare the address that it tells counts, and only from it: from elsewhere nothing passes without the
// certificate, and no address is believed with it.
func TestNginxBehindCloudflare(t *testing.T) {
	p := needProxies(t)
	edge, stranger := visitors(false, p.edge), visitors(false)
	defer edge.CloseIdleConnections()
	defer stranger.CloseIdleConnections()
	for _, f := range forgeries() {
		lines := f.lines(claimed(1))
		if slices.ContainsFunc(lines, func(l [2]string) bool { return strings.EqualFold(l[0], "cf-connecting-ip") }) {
			continue // Cloudflare overwrites what its visitors send by that name
		}
		lines = append(lines, [2]string{"CF-Connecting-IP", claimed(2)})
		for visitor, want := range map[string]string{visitor4: claimed(2), visitor6: visitor6} {
			a, err := p.cloudflare.ask(t.Context(), edge, visitor, "my-ip", "", lines)
			if err != nil {
				t.Fatal(err)
			}
			if a.at("ip") != want && !refusedByProxy(a) {
				t.Errorf("%s from %s: %.300s", f.name, visitor, a.Body)
			}
		}
	}
	a, err := p.cloudflare.ask(t.Context(), stranger, visitor4, "my-ip", "", [][2]string{{"CF-Connecting-IP", claimed(2)}})
	if err != nil || a.Status != http.StatusBadRequest || !refusedByProxy(a) {
		t.Errorf("without the certificate: %d %.300s, %v", a.Status, a.Body, err)
	}
}

// Plain HTTP leads to HTTPS of the site's own name. The proxies add no Strict-Transport-Security to the gateway's.
func TestProxiesLeadToHTTPS(t *testing.T) {
	needProxies(t)
	client := visitors(true)
	defer client.CloseIdleConnections()
	for name, ports := range map[string][2]int{"Caddy": {8180, 8143}, "nginx": {9243, 8243}} {
		plain, secure := entrance{port: ports[0]}, entrance{port: ports[1], tls: true}
		a, err := plain.send(t.Context(), client, http.MethodGet, visitor4, "/report?target=x", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if to := a.Header.Get("Location"); a.Status != 308 || to != "https://"+siteName+"/report?target=x" {
			t.Errorf("%s: %d to %s", name, a.Status, to)
		}
		if a, err = secure.send(t.Context(), client, http.MethodGet, visitor4, "/", "", nil); err != nil {
			t.Fatal(err)
		}
		if hsts := a.Header["Strict-Transport-Security"]; a.Status != 200 || !slices.Equal(hsts, []string{"max-age=31536000"}) {
			t.Errorf("%s: %d, HSTS %q", name, a.Status, hsts)
		}
		long := "/tools/uptime?input=http%3A%2F%2Fexample.com%2F" + strings.Repeat("%F0%9F%98%80", 2000)
		if a, err = secure.send(t.Context(), client, http.MethodGet, visitor4, long, "", nil); err != nil || a.Status != 200 {
			t.Errorf("%s: %d for a long query, %v", name, a.Status, err)
		}
		for _, size := range []int{5000, 60000} {
			if a, err = secure.ask(t.Context(), client, visitor4, "my-ip", strings.Repeat("x", size), nil); err != nil {
				t.Fatal(err)
			}
			if a.Status != 413 || refusedByProxy(a) {
				t.Errorf("%s: %d %.200s for a body of %d", name, a.Status, a.Body, size)
			}
		}
		if a, err = secure.ask(t.Context(), client, visitor4, "my-ip", strings.Repeat("x", 3<<20), nil); err != nil || a.Status != 413 {
			t.Errorf("%s: %d %.200s for a body of 3 MiB, %v", name, a.Status, a.Body, err)
		}
	}
}
