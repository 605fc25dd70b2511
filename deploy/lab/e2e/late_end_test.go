//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"diagnostics/lab"
)

// Who is still there when SHUTDOWN_TIMEOUT is over holds up nobody: runs are answered 503 shortly before, and whoever
// reads too slowly gets no answer that looks whole. Several times, since what ends late may do so by chance.
func TestVisitorsWhoOutlastTheEnd(t *testing.T) {
	t.Parallel()
	for n := range 5 {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			const timeout = 2 * time.Second
			gateway, err := service.StartGateway(t.Context(), fmt.Sprintf("gateway-late-%d", n),
				append(slices.Clone(unlimited), "SHUTDOWN_TIMEOUT="+timeout.String())...)
			if err != nil {
				t.Fatal(err)
			}
			silent, _ := lab.SilentEnd(90 + n)
			runs := map[string]string{"http-headers": "https://never." + lab.SiteZone + "/", "packet-loss": silent.String()}
			var visitors sync.WaitGroup
			for slug, input := range runs {
				visitors.Go(func() {
					a := post(t, gateway, slug, map[string]any{"input": input}, nil)
					if a.Status != 503 || a.Header.Get("Retry-After") != "5" || !strings.Contains(a.Error, "restarting") {
						t.Errorf("%s: status %d, Retry-After %q: %s", slug, a.Status, a.Header.Get("Retry-After"), a.Error)
					}
				})
			}
			reader := readSlowly(t, gateway, fmt.Sprintf("late-%d.%s", n, lab.HeavyName))
			time.Sleep(500 * time.Millisecond)
			began := time.Now()
			if err := gateway.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			select {
			case <-gateway.Process.Done():
			case <-time.After(2 * timeout):
				t.Error("it does not end")
				gateway.Process.Kill()
			}
			took := time.Since(began)
			visitors.Wait()
			got, whole, err := reader()
			t.Logf("ended after %v; the slow reader has %d of %d bytes: %v", took, len(got), whole, err)
			if len(got) >= whole || json.Valid(got) ||
				!errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the slow reader has %d of %d bytes: %v", len(got), whole, err)
			}
			if code := gateway.Process.ExitCode(); code != 1 || took < timeout || took > timeout+500*time.Millisecond {
				t.Errorf("exit status %d after %v: %s", code, took, gateway.Process.Errors())
			}
			if !strings.Contains(gateway.Process.Log(), `"SHUTDOWN_TIMEOUT ran out","inFlight":3,"cutOff":1}`) {
				t.Errorf("the log does not tell of three who were there: %s", tail(gateway.Process.Log()))
			}
		})
	}
}

// readSlowly asks for an answer that is larger than what the kernels keep, and reads some 10 KB of it a second while
// the gateway lives. The function that it gives waits for the end, and tells how many bytes there should have been.
func readSlowly(t *testing.T, gateway *lab.Server, name string) (end func() (got []byte, whole int, err error)) {
	t.Helper()
	c, err := internet.Dial(t.Context(), "tcp", gateway.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(8 << 10)
	}
	body := fmt.Sprintf(`{"input":%q}`, name)
	fmt.Fprintf(c, "POST /api/tools/dns-lookup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(body), body)
	resp, err := http.ReadResponse(bufio.NewReaderSize(c, 1<<10), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.ContentLength < 300<<10 {
		t.Errorf("status %d with %d bytes is no large answer", resp.StatusCode, resp.ContentLength)
	}
	var got []byte
	done := make(chan error, 1)
	go func() {
		defer resp.Body.Close()
		for {
			part := make([]byte, 1<<10)
			n, err := resp.Body.Read(part)
			if got = append(got, part[:n]...); err != nil {
				done <- err
				return
			}
			select {
			case <-time.After(100 * time.Millisecond):
			case <-gateway.Process.Done():
			}
		}
	}()
	return func() ([]byte, int, error) {
		err := <-done
		return got, int(resp.ContentLength), err
	}
}
