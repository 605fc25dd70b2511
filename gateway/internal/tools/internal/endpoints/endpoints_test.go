package endpoints

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/parallel"
	"diagnostics/shared/workerapi"
)

const ms = time.Millisecond

// policy has the times of every test here.
var policy = Policy{First: 8 * time.Second, Retry: 5 * time.Second, Pause: 250 * ms, Beside: 2 * time.Second}

// outcome is one attempt: what it returns after some time, or when it is cut off.
type outcome struct {
	after time.Duration
	state State
	err   error
}

const never = time.Hour

var errSilent = errors.New("silent")

// script returns the nth outcome of an address at its nth attempt, later the last.
type script struct {
	mu      sync.Mutex
	of      map[netip.Addr][]outcome
	calls   map[netip.Addr]int
	cut     int // attempts that were ended
	running int
}

func (s *script) try(ctx context.Context, address netip.Addr) Result[int] {
	s.mu.Lock()
	s.calls[address]++
	n := s.calls[address]
	o := s.of[address][min(n, len(s.of[address]))-1]
	s.running++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
	}()
	select {
	case <-time.After(o.after):
		return Result[int]{State: o.state, Value: n, Err: o.err}
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		s.cut++
		return Result[int]{State: Down, Value: n, Err: errSilent}
	}
}

func scripted(outcomes ...[]outcome) (*script, egress.Resolution) {
	s := &script{of: make(map[netip.Addr][]outcome), calls: make(map[netip.Addr]int)}
	var r egress.Resolution
	for i, o := range outcomes {
		address := netip.AddrFrom4([4]byte{93, 184, 216, byte(i + 1)})
		r.V4 = append(r.V4, address)
		s.of[address] = o
	}
	return s, r
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	down, up := outcome{0, Down, failed}, outcome{10 * ms, Up, nil}
	silent, late := outcome{never, Up, nil}, outcome{7999 * ms, Up, nil}
	for _, c := range []struct {
		name    string
		script  []outcome
		state   State
		attempt int // the one that decides
		calls   int
		took    time.Duration
	}{
		{"up at once", []outcome{up}, Up, 1, 1, 10 * ms},
		{"just before the second", []outcome{{1999 * ms, Up, nil}}, Up, 1, 1, 1999 * ms},
		{"the second shortens no first", []outcome{late, silent}, Up, 1, 2, 7999 * ms},
		{"the first is lost", []outcome{silent, up}, Up, 2, 2, 2010 * ms},
		{"silent", []outcome{silent}, Down, 2, 2, 8 * time.Second},
		{"fails twice", []outcome{down}, Down, 2, 2, 250 * ms},
		{"fails once", []outcome{down, up}, Up, 2, 2, 260 * ms},
		{"fails beside the second", []outcome{{3 * time.Second, Down, failed}, {4999 * ms, Up, nil}}, Up, 2, 2, 6999 * ms},
		{"the second is late", []outcome{{3 * time.Second, Down, failed}, {5001 * ms, Up, nil}}, Down, 2, 2, 7 * time.Second},
		{"a bad answer, then silence", []outcome{{0, Down, nil}, silent}, Down, 1, 2, 5250 * ms},
		{"a bad answer, then another", []outcome{{0, Down, nil}, {0, Down, nil}}, Down, 2, 2, 250 * ms},
		{"silence, then a bad answer", []outcome{down, {0, Down, nil}}, Down, 2, 2, 250 * ms},
		{"a bad answer, then a limit", []outcome{{0, Down, nil}, {0, Skipped, failed}}, Down, 1, 2, 250 * ms},
		{"a bad answer, then a shortage", []outcome{{0, Down, nil}, {0, Busy, failed}}, Busy, 2, 2, 250 * ms},
		{"skipped", []outcome{{0, Skipped, failed}}, Skipped, 1, 1, 0},
		{"busy", []outcome{{0, Busy, failed}}, Busy, 1, 1, 0},
		{"refused", []outcome{{0, Refused, failed}}, Refused, 1, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, r := scripted(c.script)
				began := time.Now()
				run := Run(t.Context(), r, policy, s.try, nil)
				defer run.Stop()
				got, took := run.Results[0], time.Since(began)
				if got.State != c.state || got.Value != c.attempt || got.Address != r.V4[0] || s.calls[r.V4[0]] != c.calls ||
					took != c.took || s.running != 0 {
					t.Errorf("%+v after %v and %d attempts, %d still running", got, took, s.calls[r.V4[0]], s.running)
				}
			})
		})
	}
}

// TestOneAttempt: a policy without Retry makes no second attempt and bounds none.
func TestOneAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, r := scripted([]outcome{{time.Minute, Down, errSilent}}, []outcome{{0, Down, nil}})
		run := Run(t.Context(), r, Policy{}, s.try, nil)
		defer run.Stop()
		if s.calls[r.V4[0]] != 1 || s.calls[r.V4[1]] != 1 || s.cut != 0 {
			t.Errorf("%v, %d cut off", s.calls, s.cut)
		}
	})
}

func TestGrace(t *testing.T) {
	t.Parallel()
	up := func(after time.Duration) []outcome { return []outcome{{after, Up, nil}} }
	down := []outcome{{time.Second, Down, errSilent}}
	for _, c := range []struct {
		name    string
		of      [][]outcome
		took    time.Duration
		running int
		order   string // in which the results came
	}{
		{"all in time", [][]outcome{up(1999 * ms), up(0)}, 1999 * ms, 0, "1 0"},
		{"one is late", [][]outcome{up(time.Minute), up(0)}, 2 * time.Second, 1, "1 0"},
		{"one that fails grants nothing", [][]outcome{up(time.Minute), down}, time.Minute, 0, "1 0"},
		{"from the first that is up", [][]outcome{up(time.Minute), down, up(3 * time.Second)}, 5 * time.Second, 1, "1 2 0"},
		{"not from a later one", [][]outcome{up(time.Minute), up(time.Second), up(0)}, 2 * time.Second, 1, "2 1 0"},
		{"a refusal ends it", [][]outcome{up(time.Minute), {{0, Refused, errSilent}}}, 0, 1, "1 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, r := scripted(c.of...)
				var order []string
				began := time.Now()
				run := Run(t.Context(), r, Policy{Grace: 2 * time.Second}, s.try, func(run *Checks[int], i int) {
					if run.Results[i].State == Unknown {
						t.Error("a result without a state")
					}
					order = append(order, fmt.Sprint(i))
				})
				if took := time.Since(began); took != c.took || run.Running != c.running {
					t.Errorf("%d are running after %v", run.Running, took)
				}
				if c.running > 0 && run.Results[0].State != Unknown {
					t.Errorf("one that is running: %+v", run.Results[0])
				}
				run.Wait()
				if got := strings.Join(order, " "); got != c.order || run.Running != 0 || s.cut != 0 {
					t.Errorf("results came in the order %s, %d were cut off", got, s.cut)
				}
			})
		})
	}
}

func TestStopEndsWhatIsRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, r := scripted([]outcome{{0, Up, nil}}, []outcome{{never, Up, nil}}, []outcome{{0, Down, errSilent}})
		bounds := policy
		bounds.Grace, bounds.Pause = ms, never
		began := time.Now()
		Run(t.Context(), r, bounds, s.try, nil).Stop()
		if took := time.Since(began); took != ms || s.cut != 1 || s.running != 0 {
			t.Errorf("after %v %d were cut off, %d are running", took, s.cut, s.running)
		}
	})
}

// TestPanicOfAnAttempt: it is raised in the caller, which does not wait for the others.
func TestPanicOfAnAttempt(t *testing.T) {
	t.Parallel()
	for _, p := range []Policy{{}, policy} {
		synctest.Test(t, func(t *testing.T) {
			_, r := scripted(nil, nil)
			ended := make(chan struct{})
			caught := parallel.Catch(func() {
				Run(t.Context(), r, p, func(ctx context.Context, address netip.Addr) Result[int] {
					if address == r.V4[0] {
						panic("boom")
					}
					<-ctx.Done()
					close(ended)
					return Result[int]{}
				}, nil)
			})
			<-ended
			if caught == nil || caught.Value != "boom" {
				t.Errorf("caught %v", caught)
			}
		})
	}
}

// TestAddresses: the first of both families in turn. One without a route is listed, and not tried.
func TestAddresses(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records(
		"example.com. 300 IN A 93.184.216.1", "example.com. 300 IN A 93.184.216.2", "example.com. 300 IN A 93.184.216.3",
		"example.com. 300 IN AAAA 2606:2800:220:1::1", "example.com. 300 IN AAAA 2606:2800:220:1::2",
	)
	for _, c := range []struct {
		policy Policy
		has    egress.Families
		want   string
	}{
		{Policy{}, egress.Families{V4: true, V6: true}, "6.1 4.1 6.2 4.2 4.3"},
		{Policy{Max: 4}, egress.Families{V4: true, V6: true}, "6.1 4.1 6.2 4.2"},
		{Policy{Max: 1}, egress.Families{V4: true, V6: true}, "6.1"},
		{Policy{PerFamily: 1}, egress.Families{V4: true, V6: true}, "6.1 4.1"},
		{Policy{Max: 3, PerFamily: 2}, egress.Families{V4: true}, "no 4.1 no"},
		{Policy{Max: 2}, egress.Families{V6: true}, "6.1 no"},
	} {
		host, err := target.ParseHost("example.com")
		if err != nil {
			t.Fatal(err)
		}
		r, err := n.Client(nil, egress.WithFamilies(c.has)).Resolve(t.Context(), host)
		if err != nil {
			t.Fatal(err)
		}
		run := Run(t.Context(), r, c.policy, func(_ context.Context, address netip.Addr) Result[string] {
			bytes := address.As16()
			return Result[string]{State: Up, Value: fmt.Sprintf("%d.%d", workerapi.Family(address), bytes[15])}
		}, nil)
		run.Stop()
		var got []string
		for _, result := range run.Results {
			switch code, _ := fault.Reason(result.Err); {
			case result.State == Up:
				got = append(got, result.Value)
			case result.State == Skipped && code == fmt.Sprintf("NO_IPV%d_HERE", workerapi.Family(result.Address)):
				got = append(got, "no")
			default:
				got = append(got, fmt.Sprintf("%+v", result))
			}
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%+v with %+v: %v, want %s", c.policy, c.has, got, c.want)
		}
	}
}

func TestStateOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want State
	}{
		{nil, Up},
		{fault.New(fault.Refused, "TARGET_DENIED", nil), Refused},
		{fault.LimitedFor(time.Second, "ADDRESS_BUSY"), Skipped},
		{fault.New(fault.Busy, "SHORTAGE_HERE", nil), Busy},
		{&fault.Error{Kind: fault.Timeout, Local: true}, Busy},
		{fault.New(fault.Timeout, "TLS_TIMEOUT", nil), Down},
		{errSilent, Down},
	} {
		if got := StateOf(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

func TestMain(m *testing.M) { toolstest.Main(m) }
