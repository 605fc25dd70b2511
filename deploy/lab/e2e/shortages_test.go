//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/shared/waittest"
)

// A host-side error is never reported as the target's (docs/contract.md#outcomes-and-errors): under each
// fault of the service's own host every tool gives the right answer or says that this service cannot go on, and seconds
// after the fault is gone all answers are right again.
func TestShortages(t *testing.T) {
	gateway, err := service.StartGateway(t.Context(), "gateway-short", unlimited...)
	if err != nil {
		t.Fatal(err)
	}
	s := newShortage(t, gateway)
	s.askAll("without a fault", onlyRight)
	for _, fault := range []struct {
		name  string
		bring func(t *testing.T) (gone func())
	}{
		{"no free file", s.takeFiles},
		{"few free files", s.takeMostFiles},
		{"four ports", fourPorts},
		{"the link is down", uplinkDown},
		{"the cable is pulled", cablePulled},
		{"the default route is gone", noDefaultRoute},
	} {
		t.Run(fault.name, func(t *testing.T) {
			s.t = t
			gone := fault.bring(t)
			ours := 0
			for round := 0; ours == 0 && round < 5; round++ { // a little of something may do for once
				began := time.Now()
				ours = s.askAll(fault.name, rightOrOurs)
				if took := time.Since(began); took > 8*time.Second { // a shortage delays no answer further
					t.Errorf("all tools together took %v", took)
				}
			}
			gone()
			if ours == 0 {
				t.Error("nothing was reported as this service's fault: was there one?")
			}
			s.recover()
		})
	}
}

// shortage sends requests to one gateway over connections opened before its fault.
type shortage struct {
	t       *testing.T
	gateway *lab.Server
	askers  []*http.Client
	fresh   int
}

// parallelAsks is how many tools run at once.
const parallelAsks = 5

func newShortage(t *testing.T, gateway *lab.Server) *shortage {
	s := &shortage{t: t, gateway: gateway}
	for range parallelAsks {
		client := internet.HTTPClient()
		client.Timeout = 40 * time.Second
		transport, _ := client.Transport.(*http.Transport)
		transport.MaxConnsPerHost = 1
		s.askers = append(s.askers, client)
		t.Cleanup(client.CloseIdleConnections)
		if a := s.ask(client, "my-ip", "", nil); a.Status != 200 {
			t.Fatalf("status %d", a.Status)
		}
	}
	return s
}

func (s *shortage) ask(client *http.Client, slug, input string, options map[string]any) answer {
	s.t.Helper()
	text, err := json.Marshal(map[string]any{"input": input, "options": options})
	if err != nil {
		s.t.Fatal(err)
	}
	began := time.Now()
	resp, err := client.Post("http://"+s.gateway.Addr+"/api/tools/"+slug, "application/json", bytes.NewReader(text))
	if err != nil {
		s.t.Errorf("%s %s: %v", slug, input, err)
		return answer{}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Errorf("%s %s: %v", slug, input, err)
		return answer{}
	}
	a := answer{Status: resp.StatusCode, Header: resp.Header, Body: body, Took: time.Since(began)}
	holdEnvelope(s.t, &a)
	holdDescription(s.t, http.MethodPost, "/api/tools/"+slug, a)
	return a
}

// truth is a request to one tool with a check of its true answer; ours recognises an answer of status 200 that puts the
// blame where it belongs.
type truth struct {
	slug, input string
	options     map[string]any
	right       facts
	ours        func(a answer) bool
}

// truths are the requests of one round, under names that no cache has.
func (s *shortage) truths() []truth {
	s.fresh++
	label := fmt.Sprintf("fresh-%d", s.fresh)
	good := "fast." + lab.SiteZone
	return []truth{
		{slug: "dns-lookup", input: label + ".lab-dns.com", right: facts{"errors.A": "ENOTFOUND", "errors.SOA": "ENOTFOUND"}},
		{slug: "http-headers", input: "https://" + good + "/", right: facts{"status": 200, "tls.authorized": true}},
		{slug: "uptime", input: "https://" + good + "/", right: facts{"verdict": "up", "online": true}},
		{slug: "port-checker", input: good + ":443", right: facts{"state": "open", "reachable": true}},
		{slug: "ssl-checker", input: good, right: facts{"authorized": true, "address": nonEmpty}},
		{slug: "redirect-checker", input: "http://redirects." + lab.SiteZone + "/chain/3", right: facts{"outcome": "final"}},
		{slug: "security-headers", input: "https://" + good + "/", right: facts{"status": 200}},
		{slug: "robots-sitemap", input: "https://" + good + "/", right: facts{"robots.status": isNot("unreachable"),
			"sitemap.status": isNot("unreachable")}},
		{slug: "dns-resolver-check", input: label + ".lab-dns.com", right: facts{"status": "agreeAbsent"}, ours: resolversNotAsked},
		{slug: "email-dns-health", input: label + ".lab-dns.com", right: facts{"checks.mx.status": "fail",
			"checks.tlsRpt.status": "missing"}, ours: checksNotMade},
		{slug: "asn-lookup", input: fmt.Sprintf("11.80.1.%d", s.fresh), right: facts{"announced": true, "notes": []string{}}},
		{slug: "traceroute", input: fmt.Sprintf("11.80.0.%d", 100+s.fresh), right: facts{"reached": true}},
	}
}

func isNot(bad string) func(any) bool { return func(v any) bool { return v != bad } }

// resolversNotAsked accepts resolvers with the true answer, and those reported as out of this service's reach.
func resolversNotAsked(a answer) bool {
	list, _ := a.at("resolvers").([]any)
	for i := range list {
		row := fmt.Sprintf("resolvers.%d.", i)
		asked := a.at(row+"outcome") == "nxdomain"
		if !asked && (a.at(row+"errorCode") != "EBUSY" || !contains("This service")(a.at(row+"reason"))) {
			return false
		}
	}
	return len(list) == 4
}

// checksNotMade takes checks with the true outcome, and such as say that this service could not make them.
func checksNotMade(a answer) bool {
	for check, right := range map[string]string{"mx": "fail", "spf": "missing", "dmarc": "missing", "mtaSts": "missing",
		"tlsRpt": "missing"} {
		status := a.at("checks." + check + ".status")
		text, err := json.Marshal(a.at("checks." + check))
		if err != nil || status != right && (status != "error" || !bytes.Contains(text, []byte("this service cannot"))) {
			return false
		}
	}
	return true
}

// onlyRight and rightOrOurs check an answer: does it report this service's fault, and may it?
func onlyRight(t *testing.T, q truth, a answer) (ours bool) {
	t.Helper()
	if a.Status != 200 {
		t.Errorf("%s %s: status %d: %s", q.slug, q.input, a.Status, a.Error)
		return false
	}
	q.right.hold(t, a)
	return false
}

func rightOrOurs(t *testing.T, q truth, a answer) (ours bool) {
	t.Helper()
	switch {
	case a.Status == 0:
		return false // reported already
	case a.Status != 200:
		holdOurs(t, q.slug, a)
		return true
	case q.ours != nil && q.ours(a):
		return bytes.Contains(bytes.ToLower(a.Body), []byte("this service cannot"))
	}
	q.right.hold(t, a)
	return false
}

// holdOurs holds that an answer is 503 with Retry-After and a sentence that names this service.
func holdOurs(t *testing.T, slug string, a answer) {
	t.Helper()
	if a.Status != 503 || a.Header.Get("Retry-After") == "" || !strings.Contains(a.Error, "This service") {
		t.Errorf("%s: status %d, Retry-After %q: %.600s", slug, a.Status, a.Header.Get("Retry-After"), a.Body)
	}
}

// askAll runs every tool, several at once, and counts the answers that report a fault of this service.
func (s *shortage) askAll(when string, judge func(*testing.T, truth, answer) bool) (ours int) {
	s.t.Helper()
	var mu sync.Mutex
	var asking sync.WaitGroup
	questions := make(chan truth)
	for _, client := range s.askers {
		asking.Go(func() {
			for q := range questions {
				a := s.ask(client, q.slug, q.input, q.options)
				mu.Lock()
				if judge(s.t, q, a) {
					ours++
				}
				mu.Unlock()
			}
		})
	}
	for _, q := range s.truths() {
		questions <- q
	}
	close(questions)
	asking.Wait()
	s.t.Logf("%s: %d of the answers report this service's own fault", when, ours)
	return ours
}

// recover waits until a site is up again, and then wants every answer to be right.
func (s *shortage) recover() {
	s.t.Helper()
	waittest.Within(5*time.Second, func() bool {
		a := s.ask(s.askers[0], "uptime", "https://fast."+lab.SiteZone+"/", nil)
		return a.Status == 200 && a.at("verdict") == "up"
	})
	s.askAll("afterwards", onlyRight)
}

// The files of the gateway, and what is left of them while a test goes on.
const (
	fileLimit = 64
	someFiles = 6
)

// takeFiles leaves the gateway 64 files and opens connections until it has none left.
func (s *shortage) takeFiles(t *testing.T) (gone func()) {
	idle := s.fillFiles(t)
	return func() { s.giveFiles(t, idle) }
}

// takeMostFiles is the same and gives some back.
func (s *shortage) takeMostFiles(t *testing.T) (gone func()) {
	idle := s.fillFiles(t)
	waiting := len(idle) - s.files(t) // connections that were not accepted yet do so when files are free
	for _, c := range idle[max(0, waiting):] {
		if len(idle) == 0 || s.files(t) <= fileLimit-someFiles {
			break
		}
		c.Close()
		time.Sleep(20 * time.Millisecond) // the gateway closes its end; the loop counts its files
	}
	return func() { s.giveFiles(t, idle) }
}

func (s *shortage) fillFiles(t *testing.T) (idle []net.Conn) {
	t.Helper()
	limitFiles(t, s.gateway.Process, fileLimit)
	for s.files(t) < fileLimit {
		c, err := internet.Dial(t.Context(), "tcp", s.gateway.Addr)
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
		time.Sleep(time.Millisecond) // the gateway accepts; the loop counts its files
	}
	return idle
}

// limitFiles bounds the numbers of the files that a program opens from now on.
func limitFiles(t *testing.T, p *lab.Process, limit int) {
	t.Helper()
	mustDo(t, lab.ServiceHost, "prlimit", fmt.Sprintf("--pid=%d", p.PID()), fmt.Sprintf("--nofile=%d:8192", limit))
}

// giveFiles ends the fault: the connections go, the limit stays.
func (s *shortage) giveFiles(t *testing.T, idle []net.Conn) {
	t.Helper()
	for _, c := range idle {
		c.Close()
	}
	eventually(t, "the gateway has closed them", func() bool { return s.files(t) <= fileLimit/2 })
}

// files counts those that the gateway has open.
func (s *shortage) files(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.gateway.Process.PID()))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// fourPorts leaves the service's host four ports to connect from.
func fourPorts(t *testing.T) (gone func()) {
	const name = "net.ipv4.ip_local_port_range"
	before, err := internet.Exec(t.Context(), lab.ServiceHost, "sysctl", "-n", name)
	if err != nil {
		t.Fatal(err)
	}
	set := func(value string) { mustDo(t, lab.ServiceHost, "sysctl", "-qw", name+"="+value) }
	set("47000 47003")
	restored := strings.Join(strings.Fields(string(before)), " ")
	t.Cleanup(func() { set(restored) })
	return func() { set(restored) }
}

func uplinkDown(t *testing.T) (gone func()) {
	mustDo(t, lab.ServiceHost, "ip", "link", "set", "uplink", "down")
	return repaired(t, lab.ServiceHost)
}

// cablePulled leaves the link up, but without a carrier. The kernel learns of either change a moment later.
func cablePulled(t *testing.T) (gone func()) {
	noticed := func(pulled bool) {
		eventually(t, "the carrier of the service's link", func() bool {
			out, err := internet.Exec(t.Context(), lab.ServiceHost, "ip", "route", "get", "fibmatch", "11.80.0.1")
			return err == nil && bytes.Contains(out, []byte("linkdown")) == pulled
		})
	}
	mustDo(t, "c1", "ip", "link", "set", "to-svc", "down")
	noticed(true)
	repaired := repaired(t, "c1")
	return func() { repaired(); noticed(false) }
}

func noDefaultRoute(t *testing.T) (gone func()) {
	mustDo(t, lab.ServiceHost, "ip", "route", "del", "default")
	mustDo(t, lab.ServiceHost, "ip", "-6", "route", "del", "default")
	time.Sleep(2100 * time.Millisecond) // until the gateway has read its routes again, every 2 s, which nothing shows
	return repaired(t, lab.ServiceHost)
}

// repaired mends a node, at the latest with the test.
func repaired(t *testing.T, node string) (gone func()) {
	t.Cleanup(func() { repair(t, node) })
	return func() { repair(t, node) }
}

func repair(t *testing.T, node string) {
	t.Helper()
	if err := internet.Repair(context.WithoutCancel(t.Context()), node); err != nil {
		t.Error(err)
	}
}

func mustDo(t *testing.T, node, command string, args ...string) {
	t.Helper()
	if _, err := internet.Exec(context.WithoutCancel(t.Context()), node, command, args...); err != nil {
		t.Fatal(err)
	}
}
