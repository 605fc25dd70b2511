package places

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/remote"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/traceroute"
	"diagnostics/shared/logtest"
	"diagnostics/shared/progress"
	"diagnostics/shared/waittest"
	"diagnostics/shared/workerapi"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	finding.Mistaken = func(mistake string) { panic(mistake) }
	goleak.VerifyTestMain(m)
}

const testKey = "made here, held by no other place"

var tracer = traceroute.New(nil, nil, nil)

// aRun is a trace to a target.
func aRun(t testing.TB, to string) Run {
	t.Helper()
	job, err := tracer.Parse(tool.Input{Text: to})
	if err != nil {
		t.Fatal(err)
	}
	return Run{Tool: tracer, Job: job, Input: to}
}

func newSet(t *testing.T, log slog.Handler, entries ...Entry) *Set {
	t.Helper()
	s := New(Config{
		Here:        Place{"own", "Our own"},
		Key:         func(context.Context) []byte { return []byte(testKey) },
		Translation: func() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("2a0e:1:2:64::/96")} },
		OwnFault:    func(error, netip.Addr, time.Time) error { return nil },
		Log:         slog.New(log), Every: 50 * time.Millisecond,
	})
	t.Cleanup(s.Close)
	if err := s.Replace(entries); err != nil {
		t.Fatal(err)
	}
	return s
}

func entry(t *testing.T, id, base string) Entry {
	t.Helper()
	u, err := remote.ParseBase("the place", base)
	if err != nil {
		t.Fatal(err)
	}
	return Entry{Place: Place{id, "Place " + id}, URL: u, Token: "a-token-of-sixteen"}
}

// place is a server that says that it is ready, and answers runs by h.
func place(t *testing.T, id string, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == PathReady {
			_, _ = fmt.Fprintf(w, `{"status":"ready","place":{"id":%q}}`, id)
			return
		}
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

const hop = `{"ttl":%d,"address":%s,"addresses":[%[2]s],"hostname":"router.example.net","hidden":false,"asn":{"asn":64500,"name":"X"},"sent":3,"received":3,"lossPercent":0,"bestMs":1,"averageMs":1,"worstMs":1,"rttsMs":[1,1,1],"note":"by 10.1.2.3","mood":"good"}`

func found(code, message string) string {
	return fmt.Sprintf(`{"code":%q,"severity":"warn","group":"safer","weight":50,"message":%q,"remedy":"Sign in.",`+
		`"paste":{"kind":"text","text":"later"},"subject":null,"reference":"https://later.example/"}`, code, message)
}

func trace(hops ...string) string {
	return `{"data":{"conclusion":{"state":"ok","code":"REACHED","message":"By 10.9.9.9 to 8.8.8.8."},"findings":[` +
		found("A_NEW_CODE", "later") + `,` + found("PATH_MTU_BLACK_HOLE", "By 10.9.9.8.") + `],"raw":"10.9.9.7",` +
		`"target":"example.com","address":"8.8.8.8","family":4,"protocol":"icmp","port":null,"reached":true,"stopReason":"reached",` +
		`"hops":[` + strings.Join(hops, ",") + `],"explanation":["192.168.1.1 is silent."],` +
		`"mtu":{"path":1400,"limitedAt":2,"reported":false,"hopMtus":[],"note":"Behind 172.16.0.1."},` +
		`"measuredAt":"2026-07-01T11:00:00Z","shared":false,"later":[1],"place":{"id":"fra","name":"x"}},"durationMs":1}`
}

// Private hops are hidden once more, and public ones keep their names; what this release does not have is dropped.
func TestPrivateHopsAreHidden(t *testing.T) {
	t.Parallel()
	answer := trace(fmt.Sprintf(hop, 1, `"10.0.0.1"`), fmt.Sprintf(hop, 2, `"8.8.8.8"`),
		fmt.Sprintf(hop, 3, `"2a0e:1:2:64::a00:1"`))
	lines := `{"step":{"kind":"hop","hop":` + fmt.Sprintf(hop, 1, `"10.0.0.1"`) + `,"atMs":1}}` + "\n" +
		`{"step":{"kind":"reply","reply":{"seq":1,"rttMs":1,"ttl":1},"atMs":1}}` + "\n" +
		strings.TrimSuffix(answer, "}") + `,"status":200}` + "\n"
	s := place(t, "fra", func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), progress.MediaType) {
			w.Header().Set("Content-Type", progress.MediaType)
			_, _ = io.WriteString(w, lines)
			return
		}
		_, _ = io.WriteString(w, answer)
	})
	set := newSet(t, slog.DiscardHandler, entry(t, "fra", s.URL))
	feed := new(progress.Feed)
	for name, ctx := range map[string]context.Context{
		"plain": bounded(t), "stream": progress.With(bounded(t), feed),
	} {
		result, err := set.Run(ctx, "fra", aRun(t, "example.com"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		data, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		for _, gone := range []string{
			"10.0.0.1", "10.1.2.3", "10.9.9.9", "192.168", "172.16", "2a0e", "10.9.9.8", "10.9.9.7", "mood",
			"later", "place", "raw", "A_NEW_CODE",
		} {
			if strings.Contains(string(data), gone) {
				t.Errorf("%s: %s is in %s", name, gone, data)
			}
		}
		if !strings.HasPrefix(string(data), `{"conclusion":`) {
			t.Errorf("%s: the order has changed: %s", name, data)
		}
		var got struct{ Hops []workerapi.Hop }
		if err := json.Unmarshal(data, &got); err != nil || len(got.Hops) != 3 || !got.Hops[0].Hidden ||
			got.Hops[0].Hostname != nil || got.Hops[0].ASN != nil || got.Hops[1].Hostname == nil || !got.Hops[2].Hidden {
			t.Errorf("%s: %v in %s", name, err, data)
		}
	}
	steps := 0
	for position := uint64(0); ; {
		step, next, ok, _ := feed.Next(position)
		if !ok {
			break
		}
		if position = next; step.Kind != progress.KindStage {
			steps++
			if text, _ := step.Value.(json.RawMessage); strings.Contains(string(text), "10.0.0.1") || step.Key != "1" {
				t.Errorf("step %s %s", step.Key, text)
			}
		}
	}
	if steps != 1 {
		t.Errorf("%d steps: that of another tool is one", steps)
	}
}

// The body has pseudonyms whose key is no token, and what is left of the time less a second.
func TestWhatAPlaceIsSent(t *testing.T) {
	t.Parallel()
	var body map[string]any
	var h http.Header
	s := place(t, "fra", func(w http.ResponseWriter, r *http.Request) {
		h = r.Header.Clone()
		_ = json.NewDecoder(r.Body).Decode(&body)
		_, _ = io.WriteString(w, trace(fmt.Sprintf(hop, 1, `"8.8.8.8"`)))
	})
	set := newSet(t, slog.DiscardHandler, entry(t, "fra", s.URL))
	r := aRun(t, "example.com")
	r.Client, r.Network = "2001:db8:1:2::/64", "2001:db8:1::/48"
	r.Options = map[string]json.RawMessage{"family": json.RawMessage(`"ipv6"`)}
	if _, err := set.Run(bounded(t), "fra", r); err != nil {
		t.Fatal(err)
	}
	// A holder of every token of every place computes other pseudonyms.
	for _, key := range []string{"a-token-of-sixteen", "", "fra", "own"} {
		if body["client"] == workerapi.Pseudonym(key, "client", r.Client) {
			t.Errorf("the client's pseudonym is keyed with %q", key)
		}
	}
	if body["client"] != workerapi.Pseudonym(testKey, "client", r.Client) ||
		body["group"] != workerapi.Pseudonym(testKey, "group", r.Network) || body["input"] != "example.com" ||
		fmt.Sprint(body["options"]) != "map[family:ipv6]" || h.Get("Authorization") != "Bearer a-token-of-sixteen" {
		t.Errorf("%v %v", body, h)
	}
	if ms, _ := body["budgetMs"].(float64); ms > 9000 || ms < 5000 {
		t.Errorf("budget %v", body["budgetMs"])
	}
	if text := fmt.Sprint(body, h); strings.Contains(text, "2001:db8") {
		t.Errorf("the client's address leaves: %s", text)
	}
	short, cancel := context.WithTimeout(t.Context(), answerTime)
	defer cancel()
	if _, err := set.Run(short, "fra", r); err == nil {
		t.Error("a run without time was sent")
	}
}

// A place is lost within two seconds, and back when it is.
func TestALostPlaceIsFound(t *testing.T) {
	t.Parallel()
	log := &logtest.Journal{}
	s := place(t, "fra", nil)
	set := newSet(t, slog.NewTextHandler(log, nil), entry(t, "fra", s.URL))
	waittest.Until(t, "the place serves", func() bool { return set.Serves("fra") })
	s.CloseClientConnections()
	_ = s.Listener.Close()
	began := time.Now()
	waittest.Until(t, "the place is lost", func() bool { return !set.Serves("fra") })
	if took := time.Since(began); took > 2*time.Second { // what is promised, over real connections
		t.Errorf("it took %v", took)
	}
	_, err := set.Run(bounded(t), "fra", aRun(t, "example.com"))
	if failed, is := errors.AsType[*fault.Error](err); !is || failed.Kind != fault.Upstream ||
		!strings.Contains(failed.Sentence(), "Place fra") {
		t.Errorf("%v", err)
	}
	if text := log.String(); !strings.Contains(text, "place=fra") || strings.Contains(text, "127.0.0.1") {
		t.Error(text)
	}
}

// What answers with another ID is not ready, and its results are of no use.
func TestAnotherPlaceAnswers(t *testing.T) {
	t.Parallel()
	s := place(t, "sin", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.ReplaceAll(trace(), `"id":"fra"`, `"id":"sin"`))
	})
	log := &logtest.Journal{}
	set := newSet(t, slog.NewTextHandler(log, nil), entry(t, "fra", s.URL))
	if _, err := set.Run(bounded(t), "fra", aRun(t, "example.com")); !fault.Is(err, fault.Upstream) {
		t.Errorf("%v", err)
	}
	waittest.Until(t, "the line of the log", func() bool { return strings.Contains(log.String(), "a place is not ready") })
	if set.States()["fra"] {
		t.Error("it serves")
	}
}

// Entries that stay the same keep their connections; the others are replaced under traffic.
func TestReplace(t *testing.T) {
	t.Parallel()
	var tokens sync.Map
	s := place(t, "fra", func(w http.ResponseWriter, r *http.Request) {
		tokens.Store(r.Header.Get("Authorization"), true)
		_, _ = io.WriteString(w, trace())
	})
	e := entry(t, "fra", s.URL)
	set := newSet(t, slog.DiscardHandler, e)
	before := set.find("fra")
	other := entry(t, "sin", s.URL)
	if err := set.Replace([]Entry{other, e}); err != nil || set.find("fra") != before {
		t.Errorf("%v: the place is another", err)
	}
	if got := fmt.Sprint(set.Others()); got != "[{sin Place sin} {fra Place fra}]" {
		t.Error(got)
	}
	var running sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		running.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := set.Run(bounded(t), "fra", aRun(t, "example.com")); err != nil {
					t.Errorf("%v", err)
					return
				}
			}
		})
	}
	for i := range 5 {
		next := e
		next.Token, next.Version = fmt.Sprintf("a-token-of-sixteen-%d", i), fmt.Sprint(i)
		if err := set.Replace([]Entry{next}); err != nil {
			t.Error(err)
		}
		waittest.Until(t, "the new token is sent", func() bool {
			_, seen := tokens.Load("Bearer " + next.Token)
			return seen
		})
	}
	close(stop)
	running.Wait()
	if err := set.Replace([]Entry{{Place: Place{"fra", "x"}, URL: e.URL, Token: "no token", Version: "x"}}); err == nil {
		t.Error("a token with a space was taken")
	}
	if set.find("fra") == nil || set.find("sin") != nil {
		t.Error("a list that cannot be used has replaced another")
	}
}

func TestOwnAddresses(t *testing.T) {
	t.Parallel()
	s := place(t, "fra", nil)
	named := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	set := newSet(t, slog.DiscardHandler, entry(t, "fra", "https://198.51.100.7:8443"), entry(t, "sin", named))
	waittest.Until(t, "the address is found", func() bool { return set.HasAddress(netip.MustParseAddr("127.0.0.1")) })
	for address, want := range map[string]bool{
		"198.51.100.7": true, "::ffff:198.51.100.7": true, "198.51.100.8": false, "8.8.8.8": false,
	} {
		if got := set.HasAddress(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
	for name, want := range map[string]bool{"localhost": true, "x.localhost": false, "198.51.100.7": true} {
		if got := set.HasHost(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// An idle link to a place costs each side less than 64 KiB. Both ends are in this process.
func TestAnIdleLinkIsSmall(t *testing.T) {
	s := place(t, "fra", nil)
	memory := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	const links = 100
	set := newSet(t, slog.DiscardHandler)
	before := memory()
	var entries []Entry
	for i := range links {
		e := entry(t, fmt.Sprintf("p%d", i), s.URL)
		entries = append(entries, e)
	}
	if err := set.Replace(entries); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "each is asked", func() bool { // each has been asked
		for _, p := range *set.current.Load() {
			if _, err := p.remote.Ready(t.Context()); err == nil {
				return false // all have another ID than fra
			}
		}
		return true
	})
	if each := (memory() - before) / links; each > 2*64<<10 {
		t.Errorf("%d bytes a link", each)
	} else {
		t.Logf("%d bytes a link", each)
	}
}

// FuzzAnswer checks that no bytes of a place break the reader, and that no private address passes.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(trace(fmt.Sprintf(hop, 1, `"10.0.0.1"`))))
	run := aRun(f, "example.com")
	f.Fuzz(func(t *testing.T, body []byte) {
		a := answers{Run: run}
		if result, err := a.read(body, "fra"); err == nil {
			if data, err := json.Marshal(result); err != nil || strings.Contains(string(data), `"10.0.0.1"`) {
				t.Errorf("%s, %v", data, err)
			}
		}
		(&steps{answers: a, feed: new(progress.Feed)}).pass(body)
	})
}
