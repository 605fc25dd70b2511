package target_test

import (
	"fmt"

	"diagnostics/gateway/internal/target"
)

// What was typed becomes a canonical target, or a sentence that says what would be right. No packet is sent.
func ExampleParseURL() {
	for _, typed := range []string{
		"HTTPS://Bücher.example.com:443/a#b", "http://10.0.0.1/", "http://user:secret@example.com/",
	} {
		url, err := target.ParseURL(typed)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(url, "counts as", url.LimitKey())
	}
	// Output:
	// https://xn--bcher-kva.example.com/a counts as xn--bcher-kva.example.com
	// 10.0.0.1 is a private address (RFC 1918). Enter a public IP address.
	// A URL must not contain a user name or password.
}

// A tool that takes a host and a port says which port it takes where there is none; 0 wants one.
func ExampleParseHostPort() {
	for _, typed := range []string{"example.com", "[2606:4700:4700::1111]:853", "example.com:70000"} {
		to, err := target.ParseHostPort(typed, 443)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(to)
	}
	// Output:
	// example.com:443
	// [2606:4700:4700::1111]:853
	// 70000 is not a port. Use a port from 1 to 65535.
}
