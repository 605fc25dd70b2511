package sslchecker

import (
	"fmt"
	"syscall"
	"testing"

	"diagnostics/gateway/internal/fault"
)

// A name may have as many dead addresses as it likes: a few of them are tried.
func TestSSLTriesFewAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const name = "many.example.com"
	for i := range 2 * maxEndpoints {
		address := fmt.Sprintf("93.184.217.%d", 1+i)
		w.Records(name + ". 300 IN A " + address)
		w.Fail(address+":443", syscall.ECONNREFUSED)
	}
	if _, err := w.check(t, name); !fault.Is(err, fault.Upstream) {
		t.Error(err)
	}
	tried := 0
	for _, to := range w.Dials() {
		if to.Port() == 443 {
			tried++
		}
	}
	if tried != maxEndpoints {
		t.Errorf("%d addresses were tried, want %d", tried, maxEndpoints)
	}
}
