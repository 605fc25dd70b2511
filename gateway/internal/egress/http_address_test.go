package egress_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
)

// TestAddressOfARequest: that address alone is dialled, for the first hop of a chain alone, and judged as any other.
func TestAddressOfARequest(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN A 93.184.216.34", "example.com. 300 IN A 93.184.216.35",
		"example.com. 300 IN AAAA 2606:2800:220:1::34")
	for _, at := range []string{"93.184.216.34:80", "93.184.216.35:80", "[2606:2800:220:1::34]:80"} {
		n.Serve(at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/next", http.StatusFound)
			}
		}))
	}
	client := n.Client(nil)
	second := netip.MustParseAddr("93.184.216.35")
	answer, err := client.Do(t.Context(), egress.Request{URL: parseURL(t, "http://example.com/"), Address: second})
	if err != nil || answer.Address != second {
		t.Fatalf("got %+v, %v", answer, err)
	}
	chain := client.Follow(t.Context(),
		egress.Request{URL: parseURL(t, "http://example.com/"), Family: 4, Address: second}, 5)
	if len(chain.Hops) != 2 || chain.End != egress.EndFinal {
		t.Fatalf("got %+v", chain)
	}
	want := []string{"93.184.216.35:80", "93.184.216.35:80", "93.184.216.34:80"}
	if dials := n.Dials(); fmt.Sprint(dials) != fmt.Sprint(want) {
		t.Errorf("dials: %v", dials)
	}
	n.ForgetDials()
	for _, inside := range []string{"10.0.0.1", "::1", "169.254.169.254"} {
		_, err := client.Do(t.Context(), egress.Request{URL: parseURL(t, "http://example.com/"),
			Address: netip.MustParseAddr(inside)})
		if !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %v", inside, err)
		}
	}
	// A name that has a private address by now is refused whatever address was requested.
	n.Records("inside.example.com. 300 IN A 93.184.216.34", "inside.example.com. 300 IN A 10.0.0.1")
	_, err = client.Do(t.Context(), egress.Request{URL: parseURL(t, "http://inside.example.com/"), Address: second})
	if !fault.Is(err, fault.Refused) {
		t.Errorf("got %v", err)
	}
	if dials := n.Dials(); len(dials) != 0 {
		t.Errorf("dials: %v", dials)
	}
}
