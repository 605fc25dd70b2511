package ping

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/workerapi"
)

func TestProbeFamilies(t *testing.T) {
	t.Parallel()
	both, four, six := []int{4, 6}, []int{4}, []int{6}
	cases := []struct {
		host, family string
		worker       []int
		want         string     // the address sent
		kind         fault.Kind // where none is
		sentence     string
	}{
		{"both.example.com", "", both, toolstest.ProbeV4, 0, ""},
		{"both.example.com", "auto", both, toolstest.ProbeV4, 0, ""},
		{"both.example.com", "ipv4", both, toolstest.ProbeV4, 0, ""},
		{"both.example.com", "ipv6", both, toolstest.ProbeV6, 0, ""},
		{"both.example.com", "auto", six, toolstest.ProbeV6, 0, ""},
		{"both.example.com", "ipv4", six, "", fault.Upstream, "The diagnostics worker has no IPv4 connection."},
		{"both.example.com", "ipv6", four, "", fault.Upstream, "The diagnostics worker has no IPv6 connection."},
		{"four.example.com", "auto", both, toolstest.ProbeV4, 0, ""},
		{"four.example.com", "ipv6", both, "", fault.Invalid, "four.example.com has no IPv6 address."},
		{"four.example.com", "auto", six, "", fault.Upstream, "The diagnostics worker has no IPv4 connection, and four.example.com has only IPv4 addresses."},
		{"six.example.com", "auto", both, toolstest.ProbeV6, 0, ""},
		{"six.example.com", "ipv4", four, "", fault.Invalid, "six.example.com has no IPv4 address."},
		{"six.example.com", "auto", four, "", fault.Upstream, "The diagnostics worker has no IPv6 connection, and six.example.com has only IPv6 addresses."},
		{toolstest.ProbeV4, "auto", both, toolstest.ProbeV4, 0, ""},
		{toolstest.ProbeV4, "ipv4", both, toolstest.ProbeV4, 0, ""},
		{toolstest.ProbeV6, "ipv6", both, toolstest.ProbeV6, 0, ""},
		{toolstest.ProbeV6, "auto", both, toolstest.ProbeV6, 0, ""},
		{toolstest.ProbeV4, "auto", six, "", fault.Upstream, "The diagnostics worker has no IPv4 connection, and " + toolstest.ProbeV4 + " has only IPv4 addresses."},
		{"mixed.example.com", "auto", both, "", fault.Refused, ""},
		{"mixed.example.com", "ipv6", both, "", fault.Refused, ""},
		{"inside.example.com", "ipv4", both, "", fault.Refused, ""},
		{"none.example.com", "auto", both, "", fault.NoAddress, ""},
		{"missing.example.net", "auto", both, "", fault.NoAddress, ""},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %s %v", c.host, c.family, c.worker), func(t *testing.T) {
			t.Parallel()
			f := &toolstest.Worker{Families: c.worker}
			tl := New(toolstest.ProbeNetwork(t).Client(nil), f.Start(t))
			caller := tool.Caller{RequestID: "the-id", Client: "2001:db8::/64", Network: "2001:db8::/48"}
			got, err := toolstest.Run(tool.WithCaller(t.Context(), caller), tl, toolstest.ProbeInput(c.host, c.family))
			if c.kind != 0 {
				if !fault.Is(err, c.kind) || c.sentence != "" && err.Error() != c.sentence {
					t.Fatalf("got %v, want kind %d %q", err, c.kind, c.sentence)
				}
				if asked := f.Requests(); len(asked) != 0 {
					t.Fatalf("the worker was asked: %+v", asked)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			asked := f.Requests()
			if len(asked) != 1 || asked[0].Target != c.want || asked[0].RequestID != "the-id" {
				t.Fatalf("asked %+v, want %s", asked, c.want)
			}
			if asked[0].Client == "" || asked[0].Group == "" || asked[0].Client == asked[0].Group {
				t.Fatalf("asked on behalf of %q in %q", asked[0].Client, asked[0].Group)
			}
			if want := strings.Contains(c.host, "example"); (asked[0].Hostname == c.host) != want {
				t.Fatalf("the hostname is %q", asked[0].Hostname)
			}
			if result := got.(Result); result.Target != c.host || result.Address != c.want {
				t.Fatalf("got target %s, address %s", result.Target, result.Address)
			}
		})
	}
}

// TestProbeFamiliesOfThisHostDoNotMatter: the packets leave from the worker, not from here.
func TestProbeFamiliesOfThisHostDoNotMatter(t *testing.T) {
	t.Parallel()
	f := &toolstest.Worker{Families: []int{6}}
	tl := New(toolstest.ProbeNetwork(t).Client(nil, egress.WithFamilies(egress.Families{V4: true})), f.Start(t))
	if _, err := toolstest.Run(t.Context(), tl, toolstest.ProbeInput("both.example.com", "auto")); err != nil {
		t.Fatal(err)
	}
	if asked := f.Requests(); len(asked) != 1 || asked[0].Target != toolstest.ProbeV6 {
		t.Fatalf("asked %+v", asked)
	}
}

// TestProbeWorkerWithoutReadiness: a worker whose families are not known still gets the job.
func TestProbeWorkerWithoutReadiness(t *testing.T) {
	t.Parallel()
	f := &toolstest.Worker{Ready: http.NotFound}
	tl := New(toolstest.ProbeNetwork(t).Client(nil), f.Start(t))
	if _, err := toolstest.Run(t.Context(), tl, toolstest.ProbeInput("both.example.com", "auto")); err != nil {
		t.Fatal(err)
	}
	if asked := f.Requests(); len(asked) != 1 || asked[0].Target != toolstest.ProbeV4 {
		t.Fatalf("asked %+v", asked)
	}
}

// The catalogue's own sentence takes the arguments of the shared ones.
func TestAnswered(t *testing.T) {
	t.Parallel()
	p := workerapi.Ping{Sent: 50, Received: 50, MedianMs: new(20.0)}
	got := report(p, "example.com")
	if got.Target != "example.com" || got.Conclusion.Message != "example.com answers in 20.0 ms (median of 50 probes)." {
		t.Errorf("%+v", got)
	}
}

func TestMain(m *testing.M) { toolstest.Main(m) }

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}
