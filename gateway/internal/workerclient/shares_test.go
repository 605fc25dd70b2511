package workerclient

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/redact"
	"diagnostics/shared/workerapi"
)

// TestJobsNameTheirVisitorByHashes: all gateways of a worker must name one visitor alike, and tell nobody who it is.
func TestJobsNameTheirVisitorByHashes(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var bodies []string
	s := worker(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies = append(bodies, string(body))
		mu.Unlock()
		jsonAnswer(http.StatusOK, goodTrace)(w, r)
	})
	send := func(with string, client, network string) (workerapi.Request, string) {
		c, err := newClient(s.URL, with, quick(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		j := job
		j.Client, j.Network = client, network
		if _, err := c.Traceroute(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		body := bodies[len(bodies)-1]
		var asked workerapi.Request
		if err := json.Unmarshal([]byte(body), &asked); err != nil {
			t.Fatal(err)
		}
		return asked, body
	}
	const net64, net48 = "2001:db8:1:2::/64", "2001:db8:1::/48"
	one, body := send(token, net64, net48)
	if strings.Contains(body, "db8") || one.Client == "" || one.Group == "" || one.Client == one.Group ||
		!workerapi.ValidPseudonym(one.Client) || !workerapi.ValidPseudonym(one.Group) {
		t.Errorf("sent %s", body)
	}
	if again, _ := send(token, net64, net48); again.Client != one.Client || again.Group != one.Group {
		t.Errorf("another gateway names the visitor %+v, the first %+v", again, one)
	}
	neighbour, _ := send(token, "2001:db8:1:3::/64", net48)
	if neighbour.Client == one.Client || neighbour.Group != one.Group {
		t.Errorf("a neighbour is %+v beside %+v", neighbour, one)
	}
	if other, _ := send(token+"-two", net64, net48); other.Client == one.Client || other.Group == one.Group {
		t.Error("the hashes do not depend on the token")
	}
	if v4, body := send(token, "93.184.216.34", ""); v4.Client == "" || strings.Contains(body, "group") {
		t.Errorf("sent %s for IPv4", body)
	}
	if _, body := send(token, "", ""); strings.Contains(body, "client") || strings.Contains(body, "group") {
		t.Errorf("sent %s for nobody", body)
	}
}

func TestASharesRefusalIsTheVisitorsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		reason string
		want   fault.Kind
		wait   time.Duration
		logged string
	}{
		{429, workerapi.RefusedShare, fault.Limited, 7 * time.Second, "429: share"},
		{429, workerapi.RefusedBudget, fault.Busy, 7 * time.Second, "429: budget"},
		{429, "", fault.Busy, 7 * time.Second, "429"}, // every slot, and workers that know no shares
		{429, "moon", fault.Busy, 7 * time.Second, "429"},
		{503, workerapi.RefusedShare, fault.Upstream, 0, "503: share"},
		{503, workerapi.RefusedShortage, fault.Busy, time.Second, "503: shortage"}, // its host's own fault is this service's
		{429, workerapi.RefusedShortage, fault.Busy, 7 * time.Second, "429: shortage"},
	} {
		s := worker(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			if c.reason != "" {
				w.Header().Set(workerapi.HeaderRefused, c.reason)
			}
			jsonAnswer(c.status, `{"error":"no slot"}`)(w, r)
		})
		_, err := client(t, s.URL, quick()).Ping(t.Context(), job)
		if got := wantFault(t, err, c.want, s.URL); got.RetryAfter != c.wait {
			t.Errorf("%d %q: Retry-After is %v", c.status, c.reason, got.RetryAfter)
		}
		if got := redact.Outline(err); !strings.HasSuffix(got, "worker status "+c.logged) {
			t.Errorf("%d %q: logged as %q", c.status, c.reason, got)
		}
	}
}
