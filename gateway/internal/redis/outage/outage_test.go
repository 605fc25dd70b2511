package outage_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/redis/outage"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// thing is what is watched.
type thing struct {
	watch *outage.Watch

	mu     sync.Mutex
	err    error
	panics bool
	hangs  time.Duration // how long a probe that fails takes
	again  func(error) bool
	probes int
	log    bytes.Buffer
}

func (th *thing) probe(context.Context) error {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.probes++
	if th.panics {
		panic("boom")
	}
	if err := th.err; err != nil && th.hangs > 0 {
		th.mu.Unlock()
		time.Sleep(th.hangs) // of the bubble
		th.mu.Lock()
		return err // of the moment at which it was asked
	}
	return th.err
}

// made is how many probes there were.
func (th *thing) made() int {
	th.mu.Lock()
	defer th.mu.Unlock()
	return th.probes
}

// becomes sets what its probes find.
func (th *thing) becomes(err error) {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.err, th.panics = err, false
}

// Write takes the log.
func (th *thing) Write(p []byte) (int, error) {
	th.mu.Lock()
	defer th.mu.Unlock()
	return th.log.Write(p)
}

// text is the log so far, after which it begins anew where that is wanted.
func (th *thing) text(anew bool) string {
	th.mu.Lock()
	defer th.mu.Unlock()
	text := th.log.String()
	if anew {
		th.log.Reset()
	}
	return text
}

// watched runs a test on a watch whose first probe has ended.
func watched(t *testing.T, th *thing, every time.Duration, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		th.watch = outage.Start(outage.Settings{
			Lost: "it is lost", Back: "it is back", Log: slog.New(slog.NewTextHandler(th, nil)),
			Probe: th.probe, Again: th.again, Every: every,
		})
		defer th.watch.Close()
		<-th.watch.Probed()
		synctest.Wait()
		test(t)
	})
}

// expect wants so many lines in the log.
func (th *thing) expect(t *testing.T, lost, back int) {
	t.Helper()
	synctest.Wait()
	text := th.text(false)
	if strings.Count(text, `level=WARN msg="it is lost"`) != lost ||
		strings.Count(text, `level=INFO msg="it is back"`) != back || strings.Count(text, "\n") != lost+back {
		t.Errorf("want %d lines that it is lost and %d that it is back:\n%s", lost, back, text)
	}
	if down := th.watch.Now().Reason() != nil; down != (lost > back) {
		t.Errorf("after %d and %d lines, lost is %t", lost, back, down)
	}
}

func TestOneLineEach(t *testing.T) {
	t.Parallel()
	th := &thing{}
	watched(t, th, 0, func(t *testing.T) {
		up := th.watch.Now()
		th.expect(t, 0, 0)
		th.becomes(io.EOF)
		for range 3 {
			th.watch.MarkLost(up, errors.New("dial tcp 192.0.2.1:6379: refused"))
		}
		th.expect(t, 1, 0)
		if text := th.text(false); !strings.Contains(text, "refused") || strings.Contains(text, "192.0.2.1") {
			t.Errorf("the reason is missing, or tells an address: %s", text)
		}
		if got := th.watch.Now().Reason(); got == nil || !strings.Contains(got.Error(), "refused") {
			t.Errorf("the reason is %v", got)
		}
		time.Sleep(time.Hour)
		th.expect(t, 1, 0)
		th.becomes(nil)
		time.Sleep(2 * time.Second)
		th.expect(t, 1, 1)
		if !strings.Contains(th.text(false), "outageMs=3600") {
			t.Errorf("how long it lasted is not told: %s", th.text(false))
		}
		// What began before the outage cannot begin another.
		th.watch.MarkLost(up, io.EOF)
		th.expect(t, 1, 1)
	})
}

// It is known to be back within two seconds, however long it was lost, and though each probe until then hangs for the
// second that it has.
func TestBackWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	for _, hangs := range []time.Duration{0, time.Second} {
		for n := range 40 {
			th := &thing{err: io.EOF, hangs: hangs}
			watched(t, th, 0, func(t *testing.T) {
				time.Sleep([]time.Duration{time.Second, 10 * time.Second, time.Hour}[n%3] + time.Duration(n)*50*time.Millisecond)
				th.expect(t, 1, 0)
				th.becomes(nil)
				time.Sleep(2 * time.Second)
				th.expect(t, 1, 1)
			})
		}
	}
}

// A flapping service is soon logged once in about two seconds, and at the old pace once it stayed up.
func TestFlapping(t *testing.T) {
	t.Parallel()
	th := &thing{}
	watched(t, th, 0, func(t *testing.T) {
		flap := func(d time.Duration) (lost int) {
			th.text(true)
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				th.watch.MarkLost(th.watch.Now(), io.EOF)
			}
			return strings.Count(th.text(false), "lost")
		}
		if lost := flap(time.Minute); lost < 30 || lost > 42 {
			t.Errorf("told %d times in a minute", lost)
		}
		if lost := flap(time.Minute); lost < 29 || lost > 38 {
			t.Errorf("told %d times in the minute after it", lost)
		}
		time.Sleep(2 * time.Minute)
		th.text(true)
		th.watch.MarkLost(th.watch.Now(), io.EOF)
		time.Sleep(320 * time.Millisecond)
		th.expect(t, 1, 1)
	})
}

// What flaps is used again within two seconds too.
func TestBackWithinTwoSecondsOfFlapping(t *testing.T) {
	t.Parallel()
	th := &thing{}
	watched(t, th, 0, func(t *testing.T) {
		for range 20 {
			th.watch.MarkLost(th.watch.Now(), io.EOF)
			time.Sleep(2 * time.Second)
			if th.watch.Now().Reason() != nil {
				t.Fatal("lost for more than two seconds")
			}
		}
	})
}

// A single failure is probed at once, and logged where the probe fails too.
func TestRecheckProbesAtOnce(t *testing.T) {
	t.Parallel()
	th := &thing{}
	watched(t, th, 0, func(t *testing.T) {
		th.watch.Recheck()
		synctest.Wait()
		if n := th.made(); n != 2 {
			t.Errorf("%d probes", n)
		}
		th.expect(t, 0, 0)
		th.becomes(io.EOF)
		for range 3 {
			th.watch.Recheck()
		}
		th.expect(t, 1, 0)
		th.becomes(nil)
		time.Sleep(2 * time.Second)
		th.expect(t, 1, 1)
	})
}

// Of the failures that are no proof two in a row count, while all is well; an outage ends with one good probe.
func TestAFailureThatIsNoProof(t *testing.T) {
	t.Parallel()
	noProof := errors.New("a moment of silence")
	for err, probes := range map[error]int{noProof: 2, io.EOF: 1} {
		th := &thing{again: func(err error) bool { return errors.Is(err, noProof) }}
		watched(t, th, 0, func(t *testing.T) {
			th.becomes(err)
			before := th.made()
			th.watch.Recheck()
			th.expect(t, 1, 0)
			if n := th.made() - before; n != probes {
				t.Errorf("%v: %d probes before it counted", err, n)
			}
			time.Sleep(320 * time.Millisecond)
			synctest.Wait()
			if n := th.made() - before; n != probes+1 {
				t.Errorf("%v: %d probes of the outage at once", err, n-probes)
			}
		})
	}
}

func TestProbesWhileAllIsWell(t *testing.T) {
	t.Parallel()
	for every, probes := range map[time.Duration]int{0: 1, time.Second: 61} {
		th := &thing{}
		watched(t, th, every, func(t *testing.T) {
			time.Sleep(time.Minute + 500*time.Millisecond)
			th.mu.Lock()
			made := th.probes
			th.mu.Unlock()
			if made != probes {
				t.Errorf("every %v: %d probes in a minute", every, made)
			}
			th.becomes(io.EOF)
			time.Sleep(time.Minute)
			if lost := strings.Count(th.text(false), "lost"); lost != min(probes-1, 1) {
				t.Errorf("every %v: told %d times", every, lost)
			}
		})
	}
}

// A probe without a result neither begins nor ends an outage.
func TestAProbeThatCannotTell(t *testing.T) {
	t.Parallel()
	th := &thing{err: outage.ErrUnsure}
	watched(t, th, time.Second, func(t *testing.T) {
		time.Sleep(time.Minute)
		th.expect(t, 0, 0)
		th.watch.MarkLost(th.watch.Now(), io.EOF)
		time.Sleep(time.Minute)
		th.expect(t, 1, 0)
		th.becomes(nil)
		time.Sleep(2 * time.Second)
		th.expect(t, 1, 1)
	})
}

func TestAPanicIsAnOutageAndEndsNothing(t *testing.T) {
	t.Parallel()
	th := &thing{panics: true}
	watched(t, th, 0, func(t *testing.T) {
		time.Sleep(time.Minute)
		th.becomes(nil)
		time.Sleep(2 * time.Second)
		if text := th.text(false); !strings.Contains(text, "panic: boom") || !strings.Contains(text, "it is back") {
			t.Error(text)
		}
	})
}

func TestNothingIsToldAfterTheEnd(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		th := &thing{}
		watched(t, th, time.Second, func(t *testing.T) {
			if lost {
				th.becomes(io.EOF)
				time.Sleep(10 * time.Second)
			}
			th.text(true)
			th.watch.Close()
			th.watch.MarkLost(th.watch.Now(), io.EOF)
			if text := th.text(false); text != "" {
				t.Error(text)
			}
		})
	}
}
