package egress_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
)

// A redirect that leads inside is not followed: each hop is judged like a first URL.
func ExampleClient_Follow() {
	url, err := target.ParseURL("http://1.1.1.1/")
	if err != nil {
		panic(err)
	}
	// In place of sockets a server in memory, below the policy.
	settings := egress.Settings{Families: egress.FamiliesBoth}
	client, err := egress.New(settings, egress.WithDialer(redirector("http://10.0.0.1/")))
	if err != nil {
		panic(err)
	}
	defer client.Close()

	chain := client.Follow(context.Background(), egress.Request{URL: url}, 5)
	for _, hop := range chain.Hops {
		fmt.Println(hop.URL, hop.Response.Status)
	}
	fmt.Println(chain.End)
	var refused *fault.Error
	if errors.As(chain.Err, &refused) {
		fmt.Println(refused.Sentence())
	}
	// Output:
	// http://1.1.1.1/ 302
	// blocked
	// The target redirects to a host that is not public.
}

// redirector dials servers that answer one request by leading elsewhere.
func redirector(location string) egress.DialFunc {
	return func(context.Context, string, netip.AddrPort) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
				fmt.Fprintf(theirs, "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", location)
			}
		}()
		return ours, nil
	}
}
