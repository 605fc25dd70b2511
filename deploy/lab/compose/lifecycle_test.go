//go:build compose

package compose

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"diagnostics/shared/waittest"
)

// load is the answers to visitors who keep sending requests while something happens.
type load struct {
	stop func()
	wg   sync.WaitGroup

	mu    sync.Mutex
	count map[string]int
	// words are what one answer of an outcome said.
	words map[string]string
}

// ask starts visitors who run a tool at the gateways in turn.
func ask(gateways []string, slug, input string) *load {
	return keepSending(func(n int) (answer, error) {
		return newVisitor().ask("http://"+gateways[n%len(gateways)], slug, input, nil, nil)
	})
}

// keepSending sends requests as fast as they are answered, four at a time; n is how many a sender has sent, and begins
// elsewhere for each.
func keepSending(send func(n int) (answer, error)) *load {
	stopped := make(chan struct{})
	l := &load{count: map[string]int{}, words: map[string]string{}, stop: sync.OnceFunc(func() { close(stopped) })}
	for i := range 4 {
		l.wg.Go(func() {
			for n := i; ; n++ {
				select {
				case <-stopped:
					return
				case <-time.After(20 * time.Millisecond):
				}
				a, err := send(n)
				l.add(a, err)
			}
		})
	}
	return l
}

// Outcomes that are no status.
const (
	notConnected = "no connection"
	broken       = "broken connection"
)

func (l *load) add(a answer, err error) {
	outcome := fmt.Sprint(a.status)
	if reported, _ := read[struct{ Error string }](a.body); reported.Error != "" {
		l.sample(outcome, reported.Error)
	}
	switch {
	case errors.Is(err, errNotConnected):
		outcome = notConnected
	case err != nil:
		outcome = broken + ": " + err.Error()[strings.LastIndex(err.Error(), ": ")+2:]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[outcome]++
}

func (l *load) sample(outcome, words string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.words[outcome] = words
}

// enough is how many answers show that visitors are served.
const enough = 10

func (l *load) successes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count["200"]
}

// answers waits for n further successes.
func (l *load) answers(t *testing.T, n int) {
	t.Helper()
	wanted := l.successes() + n
	waittest.Until(t, fmt.Sprint(wanted, " answers"), func() bool { return l.successes() >= wanted })
}

// end stops the visitors, logs their answers, and fails the test where it is something else than allowed, or where no
// request succeeded.
func (l *load) end(t *testing.T, what string, allowed ...string) {
	t.Helper()
	l.stop()
	l.wg.Wait()
	t.Logf("%s: %v %v", what, l.count, l.words)
	for outcome, n := range l.count {
		if outcome != "200" && !slices.Contains(allowed, outcome) {
			t.Errorf("%s: %d times %s", what, n, outcome)
		}
	}
	if l.count["200"] < enough {
		t.Errorf("%s: only %d answers", what, l.count["200"])
	}
}

func gateways(t *testing.T) []string {
	t.Helper()
	all, err := engine.gateways()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func compose(t *testing.T, args ...string) {
	t.Helper()
	if _, err := engine.run(args...); err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, wanted func(state) bool) {
	t.Helper()
	if err := engine.await(wanted); err != nil {
		t.Fatal(err)
	}
}

// restarted restarts a service under traffic.
func restarted(t *testing.T, service, slug, input string, allowed ...string) {
	t.Helper()
	load := ask(gateways(t), slug, input)
	t.Cleanup(load.stop)
	load.answers(t, enough)
	compose(t, "restart", service)
	await(t, readyWithAll)
	load.answers(t, enough)
	load.end(t, "restart of "+service, allowed...)
}

// With one gateway a restart is a gap in which no one can connect. What it had taken before is answered.
func TestRestartOfTheGatewayUnderTraffic(t *testing.T) {
	restarted(t, "gateway", "my-ip", "", notConnected)
}

// A restart of Redis is nothing that visitors notice.
func TestRestartOfRedisUnderTraffic(t *testing.T) {
	restarted(t, "redis", "dns-lookup", "lab-dns.com")
}

// While the worker restarts its own tools say so (502, or 503 with the time to wait), and no other tool does. What it
// had begun is finished.
func TestRestartOfTheWorkerUnderTraffic(t *testing.T) {
	begun := inBackground(func() (answer, error) {
		return newVisitor().ask("http://"+gateways(t)[0], "packet-loss", "11.90.0.1", nil, nil)
	})
	time.Sleep(time.Second) // the middle of a job of two seconds: the moment is what is tested
	others, traces := ask(gateways(t), "my-ip", ""), ask(gateways(t), "traceroute", "11.90.0.2")
	t.Cleanup(func() { others.stop(); traces.stop() })
	compose(t, "restart", "worker")
	await(t, readyWithAll)
	others.answers(t, enough)
	traces.answers(t, enough)
	others.end(t, "the worker restarts, other tools")
	traces.end(t, "the worker restarts, its own", "502", "503", "504")
	a := begun(t)
	a.wants(t, "a run that the worker had begun", http.StatusOK, `"received":50`)
}

// inBackground gives what waits for the answer.
func inBackground(send func() (answer, error)) func(*testing.T) answer {
	var a answer
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		a, err = send()
	}()
	return func(t *testing.T) answer {
		t.Helper()
		<-done
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// A worker that is killed is started again by the engine, and the gateway finds it; also after a signal to read its
// files again. A signal by way of the engine would have been the operator's wish that it stays down.
func TestKilledWorkerComesBack(t *testing.T) {
	asThePageSays(t, "kill -HUP")
	for _, service := range []string{"gateway", "worker"} {
		says(t, service, "SIGHUP: the files that settings name were read again")
	}
	id, err := engine.container("worker")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := processOf(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	waittest.Until(t, "the engine starts it again", func() bool {
		now, err := processOf(id)
		return err == nil && now != 0 && now != pid
	})
	await(t, readyWithAll)
	t.Logf("back after %v", time.Since(begin).Round(10*time.Millisecond))
	run(t, "ping", "11.90.0.1", nil).wants(t, "a ping", http.StatusOK, `"received":10`)
}

// says waits for a line of a service's log.
func says(t *testing.T, service, line string) {
	t.Helper()
	waittest.Until(t, "the log of the "+service+" has "+line, func() bool {
		out, err := engine.run("logs", "--no-color", service)
		return err == nil && strings.Contains(out, line)
	})
}
