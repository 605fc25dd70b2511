package tlsprobe_test

import (
	"fmt"

	"diagnostics/gateway/internal/tlsprobe"
)

// A suite is known by IANA's number, with the names that people use for it and what it is worth.
func ExampleSuiteByID() {
	for _, id := range []uint16{0x1301, 0xc02f, 0x002f, 0x0005} {
		suite, _ := tlsprobe.SuiteByID(id)
		fmt.Println(suite.Name, suite.KeyExchange, suite.Bits, suite.Strength)
	}
	// Output:
	// TLS_AES_128_GCM_SHA256 (EC)DHE 128 strong
	// TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 ECDHE 128 strong
	// TLS_RSA_WITH_AES_128_CBC_SHA RSA 128 weak
	// TLS_RSA_WITH_RC4_128_SHA RSA 128 insecure
}
