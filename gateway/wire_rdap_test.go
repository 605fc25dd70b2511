package main

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"diagnostics/gateway/internal/limits/pace"
	"diagnostics/gateway/internal/limits/ratelimit"
	"diagnostics/gateway/internal/tool"
)

// IANA's lists belong to the public redirector: an operator's own one is asked for everything, and nothing is fetched.
func TestListsAndRedirector(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env   []string
		lists bool
		hosts []string
	}{
		{nil, true, []string{"rdap.org:443", "data.iana.org:443"}},
		{[]string{"RDAP_BASE_URL=https://rdap.org/"}, true, []string{"rdap.org:443", "data.iana.org:443"}},
		{[]string{"RDAP_BOOTSTRAP_URL=off"}, true, []string{"rdap.org:443"}},
		{[]string{"RDAP_BOOTSTRAP_URL=https://10.0.0.1:8443/x"}, true, []string{"rdap.org:443", "10.0.0.1:8443"}},
		{[]string{"RDAP_BASE_URL=https://rdap.example.com"}, false, []string{"rdap.example.com:443"}},
		{[]string{"RDAP_BASE_URL=https://rdap.org/other"}, false, []string{"rdap.org:443"}},
		{[]string{"RDAP_BASE_URL=https://rdap.org:8443"}, false, []string{"rdap.org:8443"}},
		{[]string{"RDAP_BASE_URL=https://rdap.example.com", "RDAP_BOOTSTRAP_URL=https://lists.example.com"}, false,
			[]string{"rdap.example.com:443"}},
	} {
		config, err := ParseConfig(c.env)
		if err != nil {
			t.Fatal(err)
		}
		if got := config.rdapHosts(); config.usesLists() != c.lists || !slices.Equal(got, c.hosts) {
			t.Errorf("%v: lists %t, exempt hosts %v", c.env, config.usesLists(), got)
		}
	}
}

// In no stretch of time is a server asked more often than its burst and what its pace gives in that time, by any number
// of clients.
func TestServerBuckets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := pace.New(serverBuckets{ratelimit.NewMemory()})
		slow := pace.Pace{Burst: 3, Every: 2100 * time.Millisecond}
		var mu sync.Mutex
		var asked []time.Time
		var running sync.WaitGroup
		for i := range 600 {
			running.Go(func() {
				if limiter.Wait(t.Context(), "one:443", slow, tool.Caller{Client: fmt.Sprint(i)}) == nil {
					mu.Lock()
					defer mu.Unlock()
					asked = append(asked, time.Now())
				}
			})
			time.Sleep(100 * time.Millisecond)
		}
		running.Wait()
		const stretch = 10500*time.Millisecond - time.Microsecond
		most := 0
		for i, from := range asked {
			n := 0
			for _, at := range asked[i:] {
				if at.Sub(from) < stretch {
					n++
				}
			}
			most = max(most, n)
		}
		if most != 7 && most != 8 {
			t.Errorf("%d times in 10.5 s", most)
		}
		if err := limiter.Wait(t.Context(), "other:443", slow, tool.Caller{}); err != nil {
			t.Errorf("another server: %v", err)
		}
	})
}
