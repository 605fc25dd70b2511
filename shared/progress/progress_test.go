package progress

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// drain gives the steps behind a position as text.
func drain(f *Feed, position uint64) (got []string, _ uint64) {
	for {
		s, next, ok, _ := f.Next(position)
		position = next
		if !ok {
			return got, position
		}
		got = append(got, fmt.Sprint(s.Kind, s.Key, "=", s.Value))
	}
}

func add(f *Feed, kind, key string, value any) { f.Add(Step{Kind: kind, Key: key, Value: value}) }

func TestAReaderGetsTheNewestOfEachThing(t *testing.T) {
	t.Parallel()
	f := new(Feed)
	if got, _ := drain(f, 0); got != nil {
		t.Errorf("an empty feed has %v", got)
	}
	add(f, "hop", "1", "a")
	add(f, "hop", "2", "b")
	add(f, "reply", "1", "c")
	got, position := drain(f, 0)
	if want := []string{"hop1=a", "hop2=b", "reply1=c"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	add(f, "hop", "1", "d")
	add(f, "hop", "1", "e")
	add(f, "hop", "3", "f")
	if got, _ := drain(f, position); !slices.Equal(got, []string{"hop1=e", "hop3=f"}) {
		t.Errorf("behind the position: %v", got)
	}
	if got, _ := drain(f, 0); !slices.Equal(got, []string{"hop2=b", "reply1=c", "hop1=e", "hop3=f"}) {
		t.Errorf("from the start: %v", got)
	}
}

func TestAFeedIsBounded(t *testing.T) {
	t.Parallel()
	f := new(Feed)
	for i := range 10 * MostSteps {
		add(f, "hop", fmt.Sprint(i), i)
	}
	add(f, "hop", "0", "newer")
	got, _ := drain(f, 0)
	if len(got) != MostSteps || got[MostSteps-1] != "hop0=newer" || got[0] != "hop1=1" {
		t.Errorf("%d steps, from %s to %s", len(got), got[0], got[len(got)-1])
	}
}

// A step without room is left out: the older state of the same thing stays, and takes no more.
func TestRoom(t *testing.T) {
	t.Parallel()
	run, reader := new(Feed), new(Feed)
	left := 10
	reader.Room = func(n int) bool {
		if n > left {
			return false
		}
		left -= n
		return true
	}
	run.lead(follower{Feed: reader})
	for i, value := range []string{"12345", "12345678", "1234", "123456789"} {
		run.Report("x", strconv.Itoa(i%2), value) // in quotes two more
	}
	if got, _ := drain(run, 0); len(got) != 2 {
		t.Errorf("%v", got)
	}
	s, position, _, _ := reader.Next(0)
	if text, _ := s.Value.(json.RawMessage); string(text) != `"1234"` {
		t.Errorf("recorder %s", text)
	}
	if s, _, more, _ := reader.Next(position); more {
		t.Errorf("recorder %s %s", s.Key, s.Value)
	}
	if left != 3 {
		t.Errorf("room for %d", left)
	}
}

// A late subscriber gets the earlier steps, and later ones until it leaves; also over two feeds.
func TestFollowers(t *testing.T) {
	t.Parallel()
	run, middle, reader, late := new(Feed), new(Feed), new(Feed), new(Feed)
	run.lead(follower{Feed: middle})
	stop := middle.lead(follower{Feed: reader})
	add(run, "hop", "1", "a")
	run.Begin()
	run.lead(follower{Feed: late})
	add(run, "hop", "2", "b")
	stop()
	add(run, "hop", "3", "c")
	for name, test := range map[string]struct {
		feed *Feed
		want []string
	}{
		"until it left": {reader, []string{"hop1=a", "hop2=b"}},
		"late":          {late, []string{"hop1=a", "hop2=b", "hop3=c"}},
	} {
		if got, _ := drain(test.feed, 0); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		if !test.feed.AwaitBegin(nil) {
			t.Errorf("%s: it does not know that the work has begun", name)
		}
	}
	stop() // once more changes nothing
}

func TestAwaitBegin(t *testing.T) {
	t.Parallel()
	for name, begins := range map[string]bool{"it begins": true, "it ends before": false} {
		synctest.Test(t, func(t *testing.T) {
			f, done := new(Feed), make(chan struct{})
			time.AfterFunc(time.Second, func() {
				add(f, "hop", "1", "a") // a step is no beginning
				synctest.Wait()
				if begins {
					f.Begin()
				} else {
					close(done)
				}
			})
			if got := f.AwaitBegin(done); got != begins {
				t.Errorf("%s: %t", name, got)
			}
		})
	}
}

// recorder is a receiver that keeps the steps it was sent.
type recorder struct {
	at      []time.Time
	last    Step
	flushes int
	unsent  int
	fails   error
}

func (r *recorder) Send(s Step) error {
	r.at, r.last = append(r.at, time.Now()), s
	r.unsent++
	return r.fails
}

func (r *recorder) Flush() error {
	r.flushes++
	r.unsent = 0
	return r.fails
}

// Steps that are ready together are sent together, and none waits for a later one.
func TestCopySendsTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, done, r := new(Feed), make(chan struct{}), &recorder{}
		ended := make(chan error)
		go func() { ended <- Copy(f, done, r) }()
		synctest.Wait()
		if r.flushes != 1 {
			t.Errorf("sent %d times before anything was known, want once: what is in front of the steps", r.flushes)
		}
		for i := range 4 {
			add(f, "type", fmt.Sprint(i), i)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(together)
		synctest.Wait()
		if len(r.at) != 4 || r.flushes != 2 || r.unsent != 0 {
			t.Errorf("%d steps were recorder, sent %d times, %d wait", len(r.at), r.flushes, r.unsent)
		}
		close(done)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// closing adds a step and ends the run while the reader is busy.
type closing struct {
	recorder
	feed *Feed
	done chan struct{}
}

func (c *closing) Flush() error {
	if c.flushes == 0 {
		add(c.feed, "hop", "1", 1)
		close(c.done)
	}
	return c.recorder.Flush()
}

// A step that is there when the run ends is sent, in whichever order the two are seen.
func TestCopySendsTheLastStep(t *testing.T) {
	t.Parallel()
	for range 100 {
		c := &closing{feed: new(Feed), done: make(chan struct{})}
		if err := Copy(c.feed, c.done, c); err != nil || len(c.at) != 1 {
			t.Fatalf("%d steps are sent: %v", len(c.at), err)
		}
	}
}

// Steps are sent as they come, at most 20 in any second, the newest of each key; the end waits for none of them.
func TestCopy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, done := new(Feed), make(chan struct{})
		r := &recorder{}
		go func() {
			defer close(done)
			for i := range 5000 {
				add(f, "hop", fmt.Sprint(i%40), i)
				time.Sleep(time.Millisecond)
			}
		}()
		began := time.Now()
		if err := Copy(f, done, r); err != nil {
			t.Fatal(err)
		}
		at, last := r.at, r.last
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("took %v", took)
		}
		for i := range at {
			if i >= 20 && at[i].Sub(at[i-20]) < time.Second {
				t.Fatalf("line %d comes %v after the 20th before it", i, at[i].Sub(at[i-20]))
			}
		}
		if len(at) < 60 || at[0].Sub(began) > together || last.Value.(int) < 4850 {
			t.Errorf("%d lines, the last %v", len(at), last)
		}
	})
}

func TestCopyEndsWithTheReader(t *testing.T) {
	t.Parallel()
	f := new(Feed)
	add(f, "hop", "1", "a")
	left := errors.New("left")
	if err := Copy(f, nil, &recorder{fails: left}); !errors.Is(err, left) {
		t.Errorf("%v", err)
	}
	if err := Copy(new(Feed), nil, &recorder{fails: left}); !errors.Is(err, left) {
		t.Errorf("without a step: %v", err)
	}
}

func TestAStepOfNobody(t *testing.T) {
	t.Parallel()
	Report(t.Context(), "hop", "1", "a")
	Enter(t.Context(), Resolving)
	Ask(t.Context(), "the registry")
	if Of(t.Context()) != nil {
		t.Error("a feed without a subscriber")
	}
}

// Stages that nested runs repeat are reported once.
func TestStages(t *testing.T) {
	t.Parallel()
	outer, inner := new(Feed), new(Feed)
	inner.lead(follower{Feed: outer})
	ctx, inside := With(t.Context(), outer), With(t.Context(), inner)
	Enter(ctx, Resolving)
	Enter(inside, Resolving)
	_, before := drain(outer, 0)
	Enter(inside, Resolving)
	if got, _ := drain(outer, before); got != nil {
		t.Errorf("reported again: %v", got)
	}
	asking := Ask(ctx, "rdap.org")
	Enter(asking, Connecting)
	if got, _ := drain(outer, before); !slices.Equal(got, []string{"stage=asking"}) {
		t.Errorf("%v", got)
	}
	Enter(ctx, Connecting)
	if got, _ := drain(outer, before); !slices.Equal(got, []string{"stage=connecting"}) {
		t.Errorf("%v", got)
	}
}

// TestStagesByAddress: what is known adds up along a context, and each try of an address keeps its newest stage.
func TestStagesByAddress(t *testing.T) {
	t.Parallel()
	if Know(t.Context(), Known{Attempt: 1}) != t.Context() {
		t.Error("a context without a feed changed")
	}
	f := new(Feed)
	ctx, cancel := context.WithTimeout(Know(With(t.Context(), f), Known{DNSMs: 3, Attempt: 1}), time.Minute)
	defer cancel()
	one := Know(ctx, Known{Address: "192.0.2.1", DNSMs: 1})
	two := Know(ctx, Known{Address: "192.0.2.2", DNSMs: 4, Attempt: 2})
	Enter(one, Connecting)
	Enter(two, Connecting)
	Enter(one, Connecting) // is no change
	Enter(Know(one, Known{ConnectMs: 8}), Waiting)
	var got []Step
	for position := uint64(0); ; {
		s, next, ok, _ := f.Next(position)
		if !ok {
			break
		}
		until, _ := ctx.Deadline()
		if position = next; s.Until != until {
			t.Errorf("until %v", s.Until)
		}
		got = append(got, Step{Value: s.Value, Known: s.Known})
	}
	want := []Step{{Value: Connecting, Known: Known{Address: "192.0.2.2", DNSMs: 4, Attempt: 2}},
		{Value: Waiting, Known: Known{Address: "192.0.2.1", DNSMs: 3, ConnectMs: 8, Attempt: 1}}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for _, test := range []struct {
		step Step
		want string
	}{
		{Step{Kind: "hop", Value: map[string]int{"ttl": 3}, At: began.Add(12500 * time.Microsecond)},
			`{"step":{"kind":"hop","hop":{"ttl":3},"atMs":12.5}}` + "\n"},
		{Step{Kind: KindStage, Value: Asking, Whom: "rdap.org", At: began.Add(time.Second)},
			`{"step":{"kind":"stage","stage":"asking","whom":"rdap.org","atMs":1000,"boundMs":30000}}` + "\n"},
		{Step{Kind: KindStage, Value: Waiting, At: began, Until: began.Add(8 * time.Second),
			Known: Known{Address: "192.0.2.1", DNSMs: 0.4, ConnectMs: 8, TLSMs: 10, Attempt: 1}},
			`{"step":{"kind":"stage","stage":"waiting","atMs":0,"address":"192.0.2.1","dnsMs":0.4,"connectMs":8,"tlsMs":10,` +
				`"attempt":1,"boundMs":8000}}` + "\n"},
		{Step{Kind: KindStage, Value: Waiting, At: began, Until: began.Add(time.Minute)},
			`{"step":{"kind":"stage","stage":"waiting","atMs":0,"boundMs":30000}}` + "\n"},
		{Step{Kind: KindStage, Value: Waiting, At: began, Until: began.Add(-time.Second)},
			`{"step":{"kind":"stage","stage":"waiting","atMs":0,"boundMs":0}}` + "\n"},
		// A run that others joined later may have begun before their requests.
		{Step{Kind: "type", Value: "a\nb", At: began.Add(-time.Second)}, `{"step":{"kind":"type","type":"a\nb","atMs":0}}` + "\n"},
	} {
		var b bytes.Buffer
		if err := test.step.Line(&b, began, 30*time.Second); err != nil || b.String() != test.want {
			t.Errorf("%q, %v; want %q", b.String(), err, test.want)
		}
		if !json.Valid(b.Bytes()) || bytes.Count(b.Bytes(), []byte("\n")) != 1 {
			t.Errorf("%q is not one line of JSON", b.String())
		}
	}
	var b bytes.Buffer
	if err := (Step{Kind: "x", Value: math.NaN()}).Line(&b, began, 0); err == nil || b.Len() != 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"application/x-ndjson":                               true,
		"Application/X-NDJSON":                               true,
		"application/x-ndjson;q=0.1":                         true,
		"application/json, application/x-ndjson":             true,
		"application/x-ndjson;q=0.5, application/json;q=0.4": true,
		"application/x-ndjson;q=0.5, application/json;q=0.5": true,
		"text/html, application/x-ndjson ; q=1.0, */*":       true,
		"application/x-ndjson;q=0.5, */*":                    true,
		"application/x-ndjson;q=0.5, application/json":       false,
		"application/x-ndjson;q=0":                           false,
		"application/x-ndjson;q=0.000":                       false,
		"application/x-ndjson;q=-1":                          false,
		"application/x-ndjson;q=2":                           false,
		"application/x-ndjson;q=NaN":                         false,
		"application/x-ndjson;q=x":                           false,
		"application/x-ndjsonp":                              false,
		"application/json":                                   false,
		"application/*":                                      false,
		"*/*":                                                false,
		"":                                                   false,
		";;,,":                                               false,
	} {
		if got := Wanted([]string{accept}); got != want {
			t.Errorf("%q: %t", accept, got)
		}
	}
	if Wanted(nil) || !Wanted([]string{"application/json;q=0.2", "application/x-ndjson;q=0.3"}) {
		t.Error("several fields")
	}
}

func FuzzWanted(f *testing.F) {
	f.Add("application/x-ndjson;q=0.5, application/json")
	f.Fuzz(func(t *testing.T, accept string) {
		if Wanted([]string{accept}) && !bytes.Contains(bytes.ToLower([]byte(accept)), []byte(MediaType)) {
			t.Errorf("%q asks for a stream", accept)
		}
	})
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
