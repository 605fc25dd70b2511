//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/shared/skiptest"

	"golang.org/x/sys/unix"
)

const (
	starvedClients = 16
	runsPerClient  = 8 // MAX_IN_FLIGHT_PER_CLIENT
	// busyLoops leave the gateway little enough of its processor for runs to time out.
	busyLoops  = 24
	silentRuns = 1000
	// silentPause spreads the beginnings, which take processor time.
	silentPause = 10 * time.Millisecond
)

// slowCodes lists the conclusions and findings that call a site slow.
var slowCodes = []string{"UP_SLOW", "ANSWERS_SLOWLY", "SLOW_RESPONSE"}

// While the gateway is short of processor time it reports no healthy target as silent or slow. It has one processor,
// which it shares with busy loops; the lab has the others.
func TestNoProcessorTime(t *testing.T) {
	proofOnly(t)
	if runtime.NumCPU() < 2 {
		skiptest.Skip(t, "the lab and the gateway need a processor each")
	}
	processor := freeProcessor(t)
	gateway := confinedGateway(t, processor, slices.Concat(unlimited[:5], []string{"TRUST_PROXY_HEADERS=true",
		"CLIENT_ADDRESS_HEADER=x-real-ip", fmt.Sprint("MAX_IN_FLIGHT_PER_CLIENT=", runsPerClient)}))
	for range busyLoops { // once the gateway has started, for which it has a few seconds
		occupy(t, processor)
	}
	s := &shortage{t: t, gateway: gateway}
	var questions []truth
	for len(questions) < starvedClients*runsPerClient {
		questions = append(questions, s.truths()...)
		questions = append(questions, truth{slug: "dns-delegation", input: "lab-deleg-good.com",
			right: facts{"conclusion.state": "ok"}, ours: noServerIsSilent})
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	outcomes := map[string]int{}
	began := time.Now()
	for i, q := range questions[:starvedClients*runsPerClient] {
		running.Go(func() {
			client := http.Header{"X-Real-Ip": {attacker(i % starvedClients)}}
			a := post(t, gateway, q.slug, map[string]any{"input": q.input, "options": q.options}, client)
			outcome := q.whoseFault(a)
			mu.Lock()
			defer mu.Unlock()
			outcomes[outcome]++
			if strings.HasPrefix(outcome, "the target's") {
				t.Errorf("%s %s: %s after %d ms: %d %.3000s", q.slug, q.input, outcome, a.Took.Milliseconds(), a.Status, a.Body)
			}
		})
	}
	running.Wait()
	t.Logf("%d runs of %d clients within %.1f s: %v", starvedClients*runsPerClient, starvedClients,
		time.Since(began).Seconds(), outcomes)
	if outcomes["this service's fault"] == 0 {
		t.Error("nothing was reported as this service's fault: was it short of processor time?")
	}
}

// whoseFault reports what an answer about a healthy target says of it.
func (q truth) whoseFault(a answer) string {
	switch {
	case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
		return "this service's fault"
	case a.Status != http.StatusOK:
		return fmt.Sprint("the target's: status ", a.Status)
	case isSlow(a):
		return "the target's: slow"
	case q.slug == "email-dns-health" && failedChecksAreOurs(a), q.ours != nil && q.ours(a), len(q.right.wrong(a)) == 0:
		return "none"
	}
	return "the target's: another result"
}

// failedChecksAreOurs reports whether each check that failed names this service. If only the MX lookup did, the others
// look further up, where a record of DMARC may be.
func failedChecksAreOurs(a answer) bool {
	for _, check := range []string{"mx", "spf", "dmarc", "mtaSts", "tlsRpt"} {
		text, err := json.Marshal(a.at("checks." + check))
		if err != nil || a.at("checks."+check+".status") == "error" && !strings.Contains(string(text), "this service") {
			return false
		}
	}
	return true
}

func noServerIsSilent(a answer) bool {
	return a.at("conclusion.state") != "fail" && !strings.Contains(string(a.Body), `"timeout"`)
}

// isSlow reports whether an answer calls its target slow.
func isSlow(a answer) bool {
	codes := []any{a.at("conclusion.code")}
	findings, _ := a.at("findings").([]any)
	for i := range findings {
		codes = append(codes, a.at(fmt.Sprintf("findings.%d.code", i)))
	}
	return slices.ContainsFunc(codes, func(code any) bool {
		text, _ := code.(string)
		return slices.Contains(slowCodes, text)
	})
}

// On an idle machine the silence of a target is never this service's fault.
func TestSilenceOnAnIdleMachine(t *testing.T) {
	proofOnly(t)
	gateway, err := service.StartGateway(t.Context(), "gateway-silence",
		append(slices.Clone(unlimited), fmt.Sprint("MAX_IN_FLIGHT=", silentRuns))...)
	if err != nil {
		t.Fatal(err)
	}
	silent := "silent." + lab.SiteZone
	questions := []question{
		{"http-headers", "https://" + silent + "/", nil}, {"uptime", "http://" + silent + "/", nil},
		{"port-checker", silent + ":443", nil}, {"ssl-checker", silent, nil},
		{"redirect-checker", "http://" + silent + "/", nil}, {"security-headers", "https://" + silent + "/", nil},
		{"robots-sitemap", "https://" + silent + "/", nil}, {"dns-delegation", "lab-deleg-silent.com", nil},
	}
	t.Logf("load before: %s", loadAverage(t))
	var running sync.WaitGroup
	var mu sync.Mutex
	outcomes := map[string]int{}
	for i := range silentRuns {
		q := questions[i%len(questions)]
		running.Go(func() {
			a := post(t, gateway, q.slug, map[string]any{"input": q.input}, nil)
			mu.Lock()
			defer mu.Unlock()
			outcomes[fmt.Sprintf("%s %d", q.slug, a.Status)]++
			if a.Status == http.StatusServiceUnavailable || strings.Contains(string(a.Body), "This service") {
				t.Errorf("%s: status %d: %.300s", q, a.Status, a.Body)
			}
		})
		time.Sleep(silentPause) // the pace of the visitors
	}
	running.Wait()
	t.Logf("load after: %s", loadAverage(t))
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		t.Logf("%s: %d", outcome, outcomes[outcome])
	}
}

func loadAverage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// freeProcessor keeps this process, and so the lab, off one of its processors until the test ends. It returns that
// processor.
func freeProcessor(t *testing.T) (free int) {
	t.Helper()
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	for !all.IsSet(free) {
		free++
	}
	others := all
	others.Clear(free)
	confine(t, os.Getpid(), others)
	t.Cleanup(func() { confine(t, os.Getpid(), all) })
	return free
}

// confine sets the processors of all threads of a process. Threads that they start get the same.
func confine(t *testing.T, pid int, processors unix.CPUSet) {
	t.Helper()
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.SchedSetaffinity(id, &processors); err != nil && err != unix.ESRCH {
			t.Fatal(err)
		}
	}
}

// onProcessor calls start on a thread that has one processor, which the processes that it starts inherit: Go counts the
// processors at the start of a program.
func onProcessor(t *testing.T, processor int, start func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		var one unix.CPUSet
		one.Set(processor)
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			t.Error(err)
			return
		}
		start()
	}()
	<-done
	if t.Failed() {
		t.FailNow()
	}
}

// occupy has a busy loop use a processor until the test ends.
func occupy(t *testing.T, processor int) {
	t.Helper()
	loop := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	onProcessor(t, processor, func() {
		if err := loop.Start(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		_ = loop.Process.Kill()
		_ = loop.Wait()
	})
}

func confinedGateway(t *testing.T, processor int, env []string) (gateway *lab.Server) {
	t.Helper()
	onProcessor(t, processor, func() {
		var err error
		if gateway, err = service.StartGateway(t.Context(), "gateway-starved", env...); err != nil {
			t.Error(err)
		}
	})
	return gateway
}
