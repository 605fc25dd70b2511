package workerclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/remote"
	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

const hopStep = `{"step":{"kind":"hop","hop":{"ttl":%d,"address":%q,"addresses":[%q],"hostname":"gw.corp","hidden":false,` +
	`"asn":null,"sent":1,"received":1,"lossPercent":0,"bestMs":1,"averageMs":1,"worstMs":1,"rttsMs":[1],"note":null},"atMs":1}}` + "\n"

func replyStep(seq int) string {
	return fmt.Sprintf(`{"step":{"kind":"reply","reply":{"seq":%d,"rttMs":1,"ttl":60}}}`+"\n", seq)
}

// lastOf is the last line with a plain answer's keys.
func lastOf(plain string) string {
	return strings.ReplaceAll(strings.TrimSuffix(plain, "}"), "\n", "") + `,"status":200}` + "\n"
}

// streaming answers jobs line by line, and holds that a stream was asked for.
func streaming(t *testing.T, lines ...string) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		drain(r)
		if !progress.Wanted(r.Header.Values("Accept")) {
			t.Errorf("Accept: %q", r.Header.Get("Accept"))
		}
		w.Header().Set("Content-Type", progress.MediaType)
		for _, line := range lines {
			_, _ = w.Write([]byte(line))
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// stepsIn gives the steps of a feed but for its stages, as JSON.
func stepsIn(f *progress.Feed) (all []string) {
	position := uint64(0)
	for {
		s, next, ok, _ := f.Next(position)
		if position = next; !ok {
			return all
		}
		if s.Kind != progress.KindStage {
			value, _ := json.Marshal(s.Value)
			all = append(all, s.Kind+" "+string(value))
		}
	}
}

func followed(t *testing.T) (context.Context, *progress.Feed) {
	t.Helper()
	feed := new(progress.Feed)
	return progress.With(t.Context(), feed), feed
}

// Steps are passed on as the answer itself is: held against the contract, without what is private.
func TestSteps(t *testing.T) {
	t.Parallel()
	s := worker(t, streaming(t,
		fmt.Sprintf(hopStep, 2, "93.184.216.34", "93.184.216.34"),
		fmt.Sprintf(hopStep, 1, "10.0.0.1", "10.0.0.1"),
		fmt.Sprintf(hopStep, 0, "93.184.216.34", "93.184.216.34"),
		fmt.Sprintf(hopStep, 31, "93.184.216.34", "93.184.216.34"),
		fmt.Sprintf(hopStep, 3, "2001:db8::1", "2001:db8::1"),
		fmt.Sprintf(hopStep, 4, "<script>", "<script>"),
		strings.Replace(fmt.Sprintf(hopStep, 5, "1.1.1.1", "1.1.1.1"), `"sent":1`, `"sent":9`, 1),
		`{"step":{"kind":"hop"}}`+"\n", `{"step":{"kind":"mood","mood":"good"}}`+"\n", `{"step":7}`+"\n", `{}`+"\n", "[]\n", "7\n",
		replyStep(0), replyStep(1),
		lastOf(goodTrace)))
	ctx, feed := followed(t)
	result, err := client(t, s.URL, quick()).Traceroute(ctx, job)
	if err != nil || len(result.Hops) != 2 || !result.Hops[0].Hidden {
		t.Errorf("%+v, %v", result, err)
	}
	all := stepsIn(feed)
	kinds := make([]string, 0, len(all))
	for _, step := range all {
		kinds = append(kinds, step[:strings.IndexByte(step, ',')])
		if strings.Contains(step, "10.0.0.1") || strings.Contains(step, "corp") {
			t.Errorf("told: %s", step)
		}
	}
	if want := []string{`hop {"ttl":2`, `hop {"ttl":1`}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", all, want)
	}
}

// A series reports the probes that it sends, and no hops.
func TestRepliesOfAJob(t *testing.T) {
	t.Parallel()
	lines := []string{fmt.Sprintf(hopStep, 1, "93.184.216.34", "93.184.216.34"),
		strings.Replace(replyStep(5), `"rttMs":1`, `"rttMs":-1`, 1), replyStep(-1)}
	const most, mostLoss = workerapi.PingProbes, workerapi.LossProbes
	for _, seq := range []int{1, most, most + 1, mostLoss, mostLoss + 1} {
		lines = append(lines, replyStep(seq))
	}
	for name, test := range map[string]struct {
		last string
		run  func(*Client, context.Context) error
		want []int
	}{
		"ping": {goodPing, func(c *Client, ctx context.Context) error { _, err := c.Ping(ctx, job); return err },
			[]int{1, most}},
		"packet-loss": {goodLoss(), func(c *Client, ctx context.Context) error { _, err := c.PacketLoss(ctx, job); return err },
			[]int{1, most, most + 1, mostLoss}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := worker(t, streaming(t, append(slices.Clone(lines), lastOf(test.last))...))
			ctx, feed := followed(t)
			if err := test.run(client(t, s.URL, quick()), ctx); err != nil {
				t.Fatal(err)
			}
			want := make([]string, 0, len(test.want))
			for _, seq := range test.want {
				want = append(want, fmt.Sprintf(`reply {"seq":%d,"rttMs":1,"ttl":60}`, seq))
			}
			if got := stepsIn(feed); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// Without a subscriber the worker gets a plain request; one without streams still serves subscribers.
func TestPlainAnswers(t *testing.T) {
	t.Parallel()
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		drain(r)
		jsonAnswer(http.StatusOK, goodTrace)(w, r)
	})
	c := client(t, s.URL, quick())
	ctx, feed := followed(t)
	result, err := c.Traceroute(ctx, job)
	if err != nil || len(result.Hops) != 2 || stepsIn(feed) != nil || !feed.AwaitBegin(nil) {
		t.Errorf("%+v, %v", result, err)
	}
	// A stream shows whether the worker has taken the job, which matters without steps too where there is another.
	for workers, want := range map[int]string{1: "application/json", 2: progress.MediaType} {
		var urls []string
		for range workers {
			urls = append(urls, worker(t, func(w http.ResponseWriter, r *http.Request) {
				drain(r)
				if got := r.Header.Get("Accept"); !strings.HasPrefix(got, want) {
					t.Errorf("%d workers, Accept: %q", workers, got)
				}
				jsonAnswer(http.StatusOK, goodTrace)(w, r)
			}).URL)
		}
		if _, err := client(t, strings.Join(urls, ","), quick()).Traceroute(t.Context(), job); err != nil {
			t.Error(err)
		}
	}
}

// What a stream may end with, and how it may lie.
func TestStreamsOfAWorkerThatFails(t *testing.T) {
	t.Parallel()
	step := fmt.Sprintf(hopStep, 2, "93.184.216.34", "93.184.216.34")
	endless := func(w http.ResponseWriter, r *http.Request) {
		drain(r)
		w.Header().Set("Content-Type", progress.MediaType)
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(step)); err != nil {
				return
			}
		}
	}
	slow := func(w http.ResponseWriter, r *http.Request) {
		drain(r)
		w.Header().Set("Content-Type", progress.MediaType)
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte(step))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Millisecond) // a real server that writes its lines apart
		}
	}
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   fault.Kind
	}{
		"nothing":                {streaming(t), fault.Upstream},
		"no last line":           {streaming(t, step), fault.Upstream},
		"half a line":            {streaming(t, step, `{"step":{"ki`), fault.Upstream},
		"no JSON":                {streaming(t, step, "<html>\n", lastOf(goodTrace)), fault.Upstream},
		"endless":                {endless, fault.Upstream},
		"too slow":               {slow, fault.Timeout},
		"a line over a megabyte": {streaming(t, `{"step":{"kind":"`+strings.Repeat("a", workerapi.MaxResponseBytes)+`"}}`+"\n"), fault.Upstream},
		"no data":                {streaming(t, `{"status":200}`+"\n"), fault.Upstream},
		"another target":         {streaming(t, lastOf(strings.ReplaceAll(goodTrace, "93.184.216.34", "93.184.216.35"))), fault.Upstream},
		"a status of its own":    {streaming(t, step, `{"error":"no","status":418}`+"\n"), fault.Upstream},
		"out of time":            {streaming(t, step, `{"error":"no","status":504}`+"\n"), fault.Timeout},
		"a shortage":             {streaming(t, step, `{"error":"no","status":503,"retryAfter":1,"refused":"shortage"}`+"\n"), fault.Busy},
		"its share":              {streaming(t, step, `{"error":"no","status":429,"retryAfter":9,"refused":"share"}`+"\n"), fault.Limited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := quick()
			l.job = time.Minute // to read 4 MiB takes seconds on a machine that has much to do
			if test.want == fault.Timeout {
				l.job = 300 * time.Millisecond
			}
			ctx, _ := followed(t)
			_, err := client(t, worker(t, test.answer).URL, l).Traceroute(ctx, job)
			wantFault(t, err, test.want, "10.9.8.7")
		})
	}
}

// FuzzStream checks that no bytes of a worker break the reader, and that no private address is passed on.
func FuzzStream(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(hopStep, 1, "10.0.0.1", "10.0.0.1") + lastOf(goodTrace)))
	f.Fuzz(func(t *testing.T, body []byte) {
		feed := new(progress.Feed)
		s := steps{path: workerapi.PathTraceroute, asked: target4, feed: feed}
		lines := remote.Lines{Name: "the worker", MaxLine: 1 << 20, MaxAll: maxStreamBytes, Step: s.pass, Refuse: refusal}
		_, _ = lines.Read(strings.NewReader(string(body)))
		for _, step := range stepsIn(feed) {
			if strings.Contains(step, `"10.0.0.1"`) {
				t.Errorf("told: %s", step)
			}
		}
	})
}
