package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
	"diagnostics/worker/internal/probe"
)

type observed struct {
	mu  sync.Mutex
	all []string
}

func (o *observed) JobEnded(tool string, e Ending, _ time.Duration) {
	o.add(fmt.Sprint(tool, " ", e.Status, " ", e.Outcome))
}

func (o *observed) Limited(tool string, by Limit) { o.add(fmt.Sprint(tool, " limited by ", by)) }

func (o *observed) add(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, line)
}

func (o *observed) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.all, ", ")
}

func TestObserver(t *testing.T) {
	t.Parallel()
	o := &observed{}
	f := start(t, func(c *Config) { c.Observer = o })
	f.do(f.request("POST", workerapi.PathTraceroute, target))
	f.do(f.request("POST", workerapi.PathPacketLoss, "{"))
	f.do(f.request("GET", workerapi.PathHealth, ""))
	if got := o.String(); got != "traceroute 200 ok, packet-loss 400 invalid" {
		t.Error(got)
	}
}

// endingTests come to each ending but those of TestLimitsAreTold.
var endingTests = map[string]struct {
	change func(*http.Request)
	body   string
	err    error // of the job
	want   string
}{
	"done":          {body: target, want: "200 ok"},
	"wrong token":   {body: target, change: withHeader("Authorization", "Bearer no"), want: "401 unauthorized"},
	"method":        {change: func(r *http.Request) { r.Method = "PUT" }, body: target, want: "405 invalid"},
	"media type":    {change: withHeader("Content-Type", "text/plain"), body: target, want: "415 invalid"},
	"size":          {body: strings.Repeat(" ", workerapi.MaxRequestBytes+1), want: "413 invalid"},
	"no JSON":       {body: "{", want: "400 invalid"},
	"no address":    {body: `{"target":"example.com"}`, want: "400 invalid"},
	"not public":    {body: `{"target":"10.0.0.1"}`, want: "400 refused"},
	"no packets":    {body: target, err: &probe.BusyError{}, want: "limited by packets, ping 429 busy"},
	"no family":     {body: target, err: exchange.ErrFamily, want: "502 no_route"},
	"no route":      {body: target, err: exchange.ErrNoRoute, want: "502 no_route"},
	"cut off":       {body: target, err: errors.Join(exchange.ErrCutOff, exchange.ErrNoRoute), want: "503 shortage"},
	"shortage":      {body: target, err: exchange.ErrShortage, want: "503 shortage"},
	"no flow":       {body: target, err: exchange.ErrNoFlow, want: "503 shortage"},
	"protocol":      {body: target, err: exchange.ErrProtocol, want: "502 unsupported"},
	"firewall":      {body: target, err: exchange.ErrForbidden, want: "502 forbidden"},
	"deadline":      {body: target, err: context.DeadlineExceeded, want: "504 timeout"},
	"the system's":  {body: target, err: errors.New("unforeseen"), want: "502 internal"},
	"panic":         {body: target, err: errPanic, want: "500 internal"},
	"client leaves": {body: target, err: errClientLeaves, want: "0 canceled"},
	"worker leaves": {body: target, err: ErrLeaving, want: "503 leaving"},
}

var errPanic, errClientLeaves = errors.New("panic"), errors.New("the client leaves")

func withHeader(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func TestEndings(t *testing.T) {
	t.Parallel()
	var met []string
	for _, tt := range endingTests {
		last := tt.want[strings.LastIndex(tt.want, ", ")+1:]
		met = append(met, strings.TrimPrefix(strings.TrimSpace(last), "ping "))
	}
	for _, e := range Endings() {
		if told := fmt.Sprint(e.Status, " ", e.Outcome); !slices.Contains(met, told) && e.Outcome != OutcomeLimited {
			t.Errorf("nothing comes to %s", told)
		}
	}
	for name, tt := range endingTests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &observed{}
			f := start(t, func(c *Config) { c.Observer = o })
			ctx, leave := context.WithCancelCause(t.Context())
			defer leave(nil)
			f.prober.run = func(ctx context.Context) error {
				if errors.Is(tt.err, errPanic) {
					panic("boom")
				}
				if errors.Is(tt.err, errClientLeaves) || errors.Is(tt.err, ErrLeaving) {
					leave(tt.err)
					<-ctx.Done()
					return ctx.Err()
				}
				return tt.err
			}
			r := f.request("POST", workerapi.PathPing, tt.body)
			if tt.change != nil {
				tt.change(r)
			}
			f.server.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
			if got := o.String(); got != "ping "+tt.want {
				t.Errorf("%s, want ping %s", got, tt.want)
			}
		})
	}
}

// With 16 slots a client has 3 and a group 4.
func TestLimitsAreTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		held []holder
		asks holder
		want string
	}{
		"client": {make([]holder, 3), holder{client: "a", group: "g"}, "limited by client, ping 429 limited"},
		"group":  {make([]holder, 4), holder{group: "g"}, "limited by group, ping 429 limited"},
		"slots":  {make([]holder, 16), holder{}, "limited by slots, ping 429 busy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &observed{}
			f := start(t, func(c *Config) { c.Observer, c.Slots = o, 16 })
			for range tt.held {
				if _, err := f.server.inflight.take(time.Now(), time.Second, tt.asks); err != nil {
					t.Fatal(err)
				}
			}
			f.do(f.request("POST", workerapi.PathPing,
				fmt.Sprintf(`{"target":"11.0.0.1","client":%q,"group":%q}`, tt.asks.client, tt.asks.group)))
			if got := o.String(); got != "ping "+tt.want {
				t.Errorf("%s, want ping %s", got, tt.want)
			}
		})
	}
}
