//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/browser"
)

// threePlaces are a gateway of the service's host, which is a place itself, and the two others.
type threePlaces struct {
	own      *lab.Server
	private  string
	fra, sin *lab.Place
	origin   string
}

func startThreePlaces(t *testing.T) *threePlaces {
	t.Helper()
	others, env, err := internet.StartPlaces(t.Context(), lab.ServiceOptions{
		Gateway: gatewayProgram, Worker: workerProgram, GatewayEnv: unlimited, Env: []string{"LOG_LEVEL=debug"},
		WorkerEnv: []string{"WORKER_MAX_CONCURRENT=4096", "WORKER_PACKETS_PER_SECOND=0",
			"WORKER_TARGET_PACKETS_PER_SECOND=0"}})
	if err != nil {
		t.Fatal(err)
	}
	p := &threePlaces{private: freeAddr(t, 9090), fra: others[0], sin: others[1]}
	p.own, err = service.StartGateway(t.Context(), "gateway-places",
		slices.Concat(unlimited, env, []string{"TRUST_PROXY_HEADERS=true", "METRICS_LISTEN_ADDR=" + p.private})...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(t) })
	at, err := internet.Forward("127.0.0.1:0", p.own.Addr)
	if err != nil {
		t.Fatal(err)
	}
	p.origin = "http://" + at
	eventually(t, "all places are ready", func() bool { return p.says(t, "fra", "ok") && p.says(t, "sin", "ok") })
	return p
}

// stop ends what would send packets beside the tests that come after, and reads the logs of the two places.
func (p *threePlaces) stop(t *testing.T) {
	p.own.Process.Kill()
	for _, place := range []*lab.Place{p.fra, p.sin} {
		place.Gateway.Process.Kill()
		place.Worker.Process.Kill()
		for _, finding := range strangeLines(place.Processes()) {
			t.Error(finding)
		}
	}
}

// says reports whether /readyz gives a place that state.
func (p *threePlaces) says(t *testing.T, place, state string) bool {
	t.Helper()
	a := fetch(t, p.own, http.MethodGet, "/readyz", nil, nil)
	var ready struct{ Places map[string]string }
	if err := json.Unmarshal(a.Body, &ready); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	return ready.Places[place] == state
}

// ask runs a tool at a place; empty is the gateway's own.
func (p *threePlaces) ask(t *testing.T, slug, input, place string) answer {
	t.Helper()
	return post(t, p.own, slug, placed(map[string]any{"input": input}, place), nil)
}

// placed is a request with the option place.
func placed(request map[string]any, place string) map[string]any {
	request = maps.Clone(request)
	options, _ := request["options"].(map[string]any)
	options = maps.Clone(options)
	if options == nil {
		options = map[string]any{}
	}
	if place != "" {
		options["place"] = place
	}
	request["options"] = options
	return request
}

// The service at three places over TLS.
func TestPlaces(t *testing.T) {
	p := startThreePlaces(t)
	t.Run("tools", p.runTools)
	t.Run("differences", p.holdDifferences)
	t.Run("numbers", p.measure)
	t.Run("pages", p.lookAtPages)
	t.Run("rotation", p.rotate)
	t.Run("loss", p.lose)
}

// runTools runs every tool at both other places, plain and as a stream.
func (p *threePlaces) runTools(t *testing.T) {
	internet.Script("example.com", lab.Step{Records: []string{"@ 300 IN A " + internet.Site("fast").V4.String()}})
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range d.Tools() {
		typical, _ := tool.Typical.(map[string]any)
		for _, place := range []*lab.Place{p.fra, p.sin} {
			t.Run(tool.Slug+" "+place.ID, func(t *testing.T) {
				t.Parallel()
				a := post(t, p.own, tool.Slug, placed(typical, place.ID), nil)
				if tool.Slug == "my-ip" {
					if a.Status != http.StatusBadRequest {
						t.Errorf("status %d", a.Status)
					}
					return
				}
				if a.Status != http.StatusOK || a.at("place.id") != place.ID || a.at("place.name") != place.Name {
					t.Errorf("status %d, place %v: %.300s", a.Status, a.at("place"), a.Body)
				}
				p.holdStream(t, tool.Slug, placed(typical, place.ID), place)
			})
		}
	}
}

// holdStream runs a tool as a stream, the last line of which is to have a result of the place.
func (p *threePlaces) holdStream(t *testing.T, slug string, request map[string]any, place *lab.Place) {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	a := fetch(t, p.own, http.MethodPost, "/api/tools/"+slug, body,
		http.Header{"Content-Type": {"application/json"}, "Accept": {"application/x-ndjson"}})
	lines := bytes.Split(bytes.TrimSpace(a.Body), []byte("\n"))
	var last struct {
		Data struct{ Place struct{ ID, Name string } }
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil || last.Data.Place.ID != place.ID ||
		len(lines) < 2 {
		t.Errorf("a stream of %d lines, %v: %.300s", len(lines), err, a.Body)
	}
}

// holdDifferences compares what the places see of a firewall, of the DNS and of a path.
func (p *threePlaces) holdDifferences(t *testing.T) {
	to, _ := lab.Clean(2)
	anycast, _ := lab.Anycast(1)
	for place, want := range map[string]struct {
		firewall, address, router string
		hops                      int // to the nearest host of an anycast address
	}{
		"":    {"up", "11.80.0.1", "11.77.1.1", 3},
		"fra": {"down", "11.80.0.2", "11.76.1.1", 3},
		"sin": {"up", "11.80.0.3", "11.76.2.1", 2},
	} {
		t.Run("at "+place, func(t *testing.T) {
			t.Parallel()
			if a := p.ask(t, "uptime", "http://"+lab.Firewalled+"/", place); a.at("verdict") != want.firewall {
				t.Errorf("%v: %.300s", a.at("verdict"), a.Body)
			}
			if a := p.ask(t, "dns-lookup", lab.GeoName, place); fmt.Sprint(a.list("records.A")) != "["+want.address+"]" {
				t.Errorf("%v: %.300s", a.at("records.A"), a.Body)
			}
			a := p.ask(t, "traceroute", to.String(), place)
			first, _ := json.Marshal(a.at("hops.0"))
			if !strings.Contains(string(first), `"`+want.router+`"`) || a.at("reached") != true {
				t.Errorf("the first hop is %s, reached %v", first, a.at("reached"))
			}
			a = p.ask(t, "traceroute", anycast.String(), place)
			if hops, _ := a.at("hops").([]any); len(hops) != want.hops || a.at("reached") != true {
				t.Errorf("%d hops to the anycast address, want %d", len(hops), want.hops)
			}
		})
	}
}

// measure compares a run at a place with the same through another, and sends 200 at once.
func (p *threePlaces) measure(t *testing.T) {
	const runs = 15
	direct := internet.HTTPClientAt(p.fra.ID)
	defer direct.CloseIdleConnections()
	body := []byte(`{"input":"11.80.0.1:443"}`)
	here := fastestOf(runs, func() {
		resp, err := direct.Post("http://"+p.fra.Gateway.Addr+"/api/tools/port-checker", "application/json",
			bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	})
	through := fastestOf(runs, func() { p.open(t, "11.80.0.1:443") })
	way := fastestOf(5, func() {
		conn, err := internet.Dial(t.Context(), "tcp", p.fra.Addr.String())
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	})
	cold := fastestOf(5, func() { p.knock(t, p.fra, "") })
	cost := through - here - way
	t.Logf("a run at a place %v, through another %v, the round trip between them %v: the hop costs %v; a new "+
		"connection with TLS to its answer takes %v", here, through, way, cost, cold)
	if cost > 15*time.Millisecond {
		t.Errorf("the hop costs %v", cost)
	}
	var all sync.WaitGroup
	began := time.Now()
	for n := range 200 {
		all.Go(func() {
			to, _ := lab.Clean(n + 2)
			if a := p.ask(t, "port-checker", to.String()+":81", "fra"); a.Status != 200 || a.at("place.id") != "fra" {
				t.Errorf("%s: status %d: %.200s", to, a.Status, a.Body)
			}
		})
	}
	all.Wait()
	t.Logf("200 runs at once through one place take %v", time.Since(began))
}

// open runs port-checker at fra on a port that is open.
func (p *threePlaces) open(t *testing.T, input string) answer {
	t.Helper()
	a := p.ask(t, "port-checker", input, "fra")
	if a.Status != http.StatusOK || a.at("place.id") != "fra" {
		t.Errorf("status %d: %.300s", a.Status, a.Body)
	}
	return a
}

// fastestOf is the least time of something done n times: what else this machine does only adds to it.
func fastestOf(n int, do func()) time.Duration {
	least := time.Hour
	for range n {
		began := time.Now()
		do()
		least = min(least, time.Since(began))
	}
	return least
}

// knock is the status of a place's /peer/ready over a connection of its own.
func (p *threePlaces) knock(t *testing.T, at *lab.Place, token string) int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: internet.Dial, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+at.Addr.String()+"/peer/ready", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// compared is true when all places of a page have ended.
const compared = `document.querySelector("#result[aria-busy=false] .places-verdict .verdict:not(.pending)")`

// lookAtPages compares all places in a browser.
func (p *threePlaces) lookAtPages(t *testing.T) {
	to, _ := lab.Clean(2)
	for _, page := range []struct {
		slug, input, tone string
		says              []string
	}{
		{"uptime", "http://" + lab.Firewalled + "/", "warn", []string{"The site fails from Frankfurt and works from the 2 other places"}},
		{"dns-lookup", lab.GeoName, "info", []string{"3 different answers"}},
		{"traceroute", to.String(), "good", []string{"join at 11.77.4.1"}},
	} {
		t.Run(page.slug, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{Origin: p.origin})
			tab.Open(toolPath(page.slug, page.input, "place", "all"))
			tab.UntilWithin(compared, patience)
			holdText(t, tab, ".places-verdict", page.says...)
			if tab.Count(".places-verdict .verdict."+page.tone) != 1 {
				t.Errorf("the verdict is not %s", page.tone)
			}
			holdText(t, tab, "#result", "Amsterdam", "Frankfurt", "Singapore", "11.")
			holdAtBothWidths(t, tab, "places-"+page.slug)
			holdQuiet(t, tab)
		})
	}
	// Where a site opens from here and not for the visitor, the other places come first.
	t.Run("does it open for you", func(t *testing.T) {
		t.Parallel()
		tab := openTab(t, browser.Options{Origin: p.origin})
		site := "http://" + lab.Firewalled + "/"
		tab.Open(toolPath("uptime", site))
		untilAnswered(tab)
		tab.Click(buttonOf(tab, "It does not"))
		if to := tab.Attribute(".for-you a", "href"); to != toolPath("uptime", site, "place", "all") {
			t.Errorf("the first link leads to %s", to)
		}
		tab.Click(".for-you a")
		tab.UntilWithin(compared, patience)
	})
}

// holdAtBothWidths is the part of holdLooks that depends on what the page shows.
func holdAtBothWidths(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	for _, width := range []int{1280, 360} {
		tab.Look(width, false)
		if pixels, elements := tab.Overflow(); pixels > 0 {
			t.Errorf("at %d px the page is %d px too wide: %s", width, pixels, elements)
		}
		tab.Screenshot(name)
		for _, finding := range tab.Axe() {
			t.Errorf("at %d px: %s", width, finding)
		}
	}
}

// rotate replaces the token and the certificate of a place under traffic, as docs/operations.md has it.
func (p *threePlaces) rotate(t *testing.T) {
	visitors := startLoad(4, func(visitor, turn int) answer {
		to, _ := lab.Clean(10 + visitor*50 + turn%50)
		return p.ask(t, "port-checker", to.String()+":81", "fra")
	})
	step := func(files map[string]string, reader *lab.Process) {
		t.Helper()
		p.replace(t, files, reader)
		before, _ := visitors.now()
		eventually(t, "visitors come back", func() bool { now, _ := visitors.now(); return now[200] > before[200]+8 })
	}
	token := p.read(t, "token")
	next := "the-next-token-of-this-place"
	step(map[string]string{"token": token + "," + next}, p.fra.Gateway.Process)
	eventually(t, "both tokens are accepted", func() bool { return p.knock(t, p.fra, next) == 200 })
	step(map[string]string{"token": next + "," + token}, nil)
	step(map[string]string{"token": next}, p.fra.Gateway.Process)
	eventually(t, "the old token is refused", func() bool { return p.knock(t, p.fra, token) == 401 })

	cert, key := p.newCertificate(t)
	step(map[string]string{"cert.pem": p.read(t, "cert.pem") + "\n" + cert}, nil)
	step(map[string]string{"cert.pem": cert + "\n" + p.read(t, "cert.pem"), "key.pem": key}, p.fra.Gateway.Process)
	eventually(t, "the new certificate is shown", func() bool { return p.shows(t, cert) })
	step(map[string]string{"cert.pem": cert}, nil)
	statuses, slowest := visitors.end()
	t.Logf("runs by status %v, none later than %v", statuses, slowest)
	if len(statuses) != 1 || statuses[http.StatusOK] < 40 {
		t.Errorf("runs by status %v: %s", statuses, linesWith(p.own.Process.Log(), `"level":"WARN"`))
	}
	if a := p.open(t, "11.80.0.1:443"); a.at("state") != "open" {
		t.Errorf("%.300s", a.Body)
	}
}

func (p *threePlaces) read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(p.fra.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}

// replace replaces files of fra and has a process reread them; nil is the gateway that asks, which is waited for.
func (p *threePlaces) replace(t *testing.T, files map[string]string, reader *lab.Process) {
	t.Helper()
	const taken = `diagnostics_reloads_total{file="places",result="ok"}`
	before := p.metric(t, taken)
	for name, content := range files {
		path := filepath.Join(p.fra.Dir, name)
		if err := os.WriteFile(path+".next", []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".next", path); err != nil {
			t.Fatal(err)
		}
	}
	if reader != nil {
		hangUp(t, reader)
		return
	}
	hangUp(t, p.own.Process)
	eventually(t, "the gateway takes the files", func() bool { return p.metric(t, taken) > before })
}

func (p *threePlaces) metric(t *testing.T, name string) float64 {
	t.Helper()
	all, err := internet.Metrics(t.Context(), p.private)
	if err != nil {
		t.Fatal(err)
	}
	return all[name]
}

// newCertificate has the gateway make another certificate for fra.
func (p *threePlaces) newCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	dir := t.TempDir()
	process, err := internet.Start(p.fra.ID, "next-certificate", []string{"PEER_TOKEN_FILE=" + dir + "/token",
		"PEER_TLS_CERT_FILE=" + dir + "/cert", "PEER_TLS_KEY_FILE=" + dir + "/key",
		"PEER_TLS_NAMES=" + p.fra.Addr.Addr().String()}, gatewayProgram, "-init-place")
	if err != nil {
		t.Fatal(err)
	}
	<-process.Done()
	certificate, err := os.ReadFile(dir + "/cert")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := os.ReadFile(dir + "/key")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(certificate)), string(secret)
}

// shows reports whether the listener of fra shows a certificate.
func (p *threePlaces) shows(t *testing.T, cert string) bool {
	t.Helper()
	raw, err := internet.Dial(t.Context(), "tcp", p.fra.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(conn.ConnectionState().PeerCertificates[0].Raw, decoded(t, cert))
}

// lose kills the gateway of a place while it runs a check, and starts it again.
func (p *threePlaces) lose(t *testing.T) {
	to, _ := lab.Distant(5)
	ended := make(chan answer, 1)
	go func() { ended <- p.ask(t, "packet-loss", to.String(), "sin") }()
	time.Sleep(500 * time.Millisecond) // the middle of a run of two seconds: the moment is what is tested
	p.sin.Gateway.Process.Kill()
	began := time.Now()
	eventually(t, "the loss is seen", func() bool { return p.says(t, "sin", "down") })
	if took := time.Since(began); took > 3*time.Second { // what is promised, and a second for a busy machine
		t.Errorf("the loss is seen after %v", took)
	} else {
		t.Logf("the loss is seen after %v", took)
	}
	a := <-ended
	if (a.Status != 502 && a.Status != 504) || !strings.Contains(a.Error, p.sin.Name) {
		t.Errorf("status %d: %s", a.Status, a.Error)
	}
	tab := openTab(t, browser.Options{Origin: p.origin})
	tab.Open(toolPath("uptime", "http://v4only.lab-site.com/", "place", "all"))
	tab.UntilWithin(compared, patience)
	holdText(t, tab, ".places-verdict", "Up from")
	if text := tab.Text(".places-verdict"); strings.Contains(text, "Singapore") || strings.Contains(text, "Down") {
		t.Error(text)
	}
	holdText(t, tab, "#result", "No answer: ")
	if text := tab.String(textOf("#result .places ~ .parts")); strings.Contains(text, "differs") {
		t.Errorf("a lost place is shown as a difference: %s", text)
	}
	holdAtBothWidths(t, tab, "places-lost")
	holdQuiet(t, tab, "status of 502")
	if err := p.sin.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the place is back", func() bool { return p.says(t, "sin", "ok") })
}

func decoded(t *testing.T, cert string) []byte {
	t.Helper()
	block, _ := pem.Decode([]byte(cert))
	if block == nil {
		t.Fatal("no certificate")
	}
	return block.Bytes
}
