package workerclient

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/remote"
	"diagnostics/shared/workerapi"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

func TestHidePrivateInTheNoteOnTheMTU(t *testing.T) {
	t.Parallel()
	got := workerapi.Traceroute{MTU: &workerapi.MTU{Note: ptr("Packets vanish at 10.0.0.1.")}}
	inside{}.hidePrivate(&got)
	if *got.MTU.Note != "Packets vanish at a hidden address." {
		t.Error(*got.MTU.Note)
	}
}

func TestHideHop(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name      string
		hop, want workerapi.Hop
	}{
		{
			name: "public hop is kept",
			hop: workerapi.Hop{TTL: 1, Address: ptr("8.8.8.8"), Addresses: []string{"8.8.8.8", "1.1.1.1"}, Sent: 3,
				Note: ptr("8.8.8.8 limits its answers.")},
			want: workerapi.Hop{TTL: 1, Address: ptr("8.8.8.8"), Addresses: []string{"8.8.8.8", "1.1.1.1"}, Sent: 3,
				Note: ptr("8.8.8.8 limits its answers.")},
		},
		{
			name: "private hop keeps its row and its times",
			hop: workerapi.Hop{TTL: 2, Address: ptr("10.0.0.1"), Addresses: []string{"10.0.0.1", "8.8.8.8"}, Sent: 3,
				Received: 3, BestMs: ptr(1.0)},
			want: workerapi.Hop{TTL: 2, Hidden: true, Addresses: []string{}, Sent: 3, Received: 3, BestMs: ptr(1.0)},
		},
		{
			name: "hidden hop that still holds its address",
			hop:  workerapi.Hop{TTL: 3, Hidden: true, Address: ptr("8.8.8.8"), Addresses: []string{"8.8.8.8"}},
			want: workerapi.Hop{TTL: 3, Hidden: true, Addresses: []string{}},
		},
		{
			name: "private leg of a public hop",
			hop:  workerapi.Hop{TTL: 4, Address: ptr("8.8.8.8"), Addresses: []string{"8.8.8.8", "192.168.1.1", "100.64.0.1"}},
			want: workerapi.Hop{TTL: 4, Address: ptr("8.8.8.8"), Addresses: []string{"8.8.8.8"}},
		},
		{
			name: "first probe lost, the others private",
			hop:  workerapi.Hop{TTL: 5, Addresses: []string{"172.16.0.1"}},
			want: workerapi.Hop{TTL: 5, Hidden: true, Addresses: []string{}},
		},
		{
			name: "silent hop is not hidden",
			hop:  workerapi.Hop{TTL: 6, Addresses: []string{}},
			want: workerapi.Hop{TTL: 6, Addresses: []string{}},
		},
		{
			name: "names and networks are never the worker's",
			hop: workerapi.Hop{TTL: 7, Address: ptr("8.8.8.8"), Addresses: []string{}, Hostname: ptr("core.internal"),
				ASN: &workerapi.HopASN{ASN: 64512}},
			want: workerapi.Hop{TTL: 7, Address: ptr("8.8.8.8"), Addresses: []string{}},
		},
		{
			name: "IPv6",
			hop: workerapi.Hop{TTL: 8, Address: ptr("fd00::1"), Addresses: []string{"fd00::1"},
				Note: ptr("fd00::1: prohibited.")},
			want: workerapi.Hop{TTL: 8, Hidden: true, Addresses: []string{}, Note: ptr("a hidden address: prohibited.")},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := c.hop
			(inside{}).hideHop(&got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Fatalf("-want +got\n%s", diff)
			}
		})
	}
}

// A router behind the network's translator has a private address inside of one that looks public.
func TestHideTranslatedHops(t *testing.T) {
	t.Parallel()
	for address, hidden := range map[string]bool{"2a0e:1:2:64::a00:1": true, "2a0e:1:2:64::808:808": false} {
		hop := workerapi.Hop{TTL: 1, Address: ptr(address), Addresses: []string{address}, Note: ptr(address + " answered.")}
		inside{remote.Inside{netip.MustParsePrefix("2a0e:1:2:64::/96")}}.hideHop(&hop)
		if hop.Hidden != hidden || strings.Contains(*hop.Note, address) == hidden {
			t.Errorf("%s: %+v", address, hop)
		}
	}
}

func TestHideInText(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, want string }{
		{"", ""},
		{"Nothing to hide at 12:30:15 on 1.2.3.", "Nothing to hide at 12:30:15 on 1.2.3."},
		{"8.8.8.8 and 2606:4700:4700::1111 are public.", "8.8.8.8 and 2606:4700:4700::1111 are public."},
		{"From 10.1.2.3.", "From a hidden address."},
		{"via10.1.2.3:80", "viaa hidden address:80"},
		{"(192.168.0.1,172.31.255.255)", "(a hidden address,a hidden address)"},
		{"[fe80::1]", "[a hidden address]"},
		{"fe80::1%eth0 answered", "a hidden address%eth0 answered"},
		{"::ffff:10.0.0.1 is mapped", "a hidden address is mapped"},
		{"::1: loopback", "a hidden address: loopback"},
		{"address:fd00::7", "address:a hidden address"},
		{"100.64.0.1 shared, 100.128.0.1 not", "a hidden address shared, 100.128.0.1 not"},
	}
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			if got := remote.Inside(nil).HideInText(c.text); got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}

// answering is a good ping that says more of itself.
func answering(fields string) http.HandlerFunc {
	return jsonAnswer(http.StatusOK, strings.Replace(goodPing, `"stopReason"`, fields+`,"stopReason"`, 1))
}

func TestMomentsAreInUTC(t *testing.T) {
	t.Parallel()
	s := worker(t, answering(`"measuredAt":"2026-05-01T14:00:00.123+02:00","shared":true`))
	p, err := client(t, s.URL, quick()).Ping(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.MeasuredAt.Format(time.RFC3339Nano); got != "2026-05-01T12:00:00.123Z" || !p.Shared {
		t.Errorf("measured at %s, shared %t", got, p.Shared)
	}
}

// Where a worker of an older version does not say, a measurement is of when it was asked.
func TestAWorkerThatTellsNoMoment(t *testing.T) {
	t.Parallel()
	s := worker(t, jsonAnswer(http.StatusOK, goodTrace))
	before := time.Now().Truncate(time.Millisecond)
	r, err := client(t, s.URL, quick()).Traceroute(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if r.MeasuredAt.Before(before) || r.MeasuredAt.After(time.Now()) || r.MeasuredAt.Location() != time.UTC || r.Shared {
		t.Errorf("measured at %v, shared %t", r.MeasuredAt, r.Shared)
	}
}

func TestWhatASeriesTellsIsHeldAgainstTheContract(t *testing.T) {
	t.Parallel()
	for fields, good := range map[string]bool{
		`"late":0,"undecided":1,"confirmation":null`:                                   true,
		`"confirmation":{"intervalMs":1000,"sent":6,"received":5,"lossPercent":16.67}`: true,
		`"late":1`:          false,
		`"late":"none"`:     false,
		`"undecided":2`:     false,
		`"undecided":-1`:    false,
		`"confirmation":{}`: false,
		`"confirmation":{"intervalMs":1000,"sent":6,"received":7,"lossPercent":0}`: false,
		`"confirmation":[]`:                   false,
		`"measuredAt":""`:                     false,
		`"measuredAt":"yesterday"`:            false,
		`"measuredAt":"0001-01-02T00:00:00Z"`: false,
		`"shared":"yes"`:                      false,
	} {
		s := worker(t, answering(fields))
		p, err := client(t, s.URL, quick()).Ping(t.Context(), job)
		if !good {
			if !fault.Is(err, fault.Upstream) {
				t.Errorf("%s: %v", fields, err)
			}
			continue
		}
		if err != nil || strings.Contains(fields, "sent") != (p.Confirmation != nil) {
			t.Errorf("%s: %v, %+v", fields, err, p.Confirmation)
		}
	}
}
