package uptime

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// firstRead is a connection of which something was read already.
type firstRead struct {
	net.Conn
	from io.Reader
}

func (c firstRead) Read(p []byte) (int, error) { return c.from.Read(p) }

// TestUptimeHelloTooLong: a site whose server closes connections with a long hello is degraded, and not down.
func TestUptimeHelloTooLong(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 300 IN A " + toolstest.WebV4)
	config := toolstest.NewAuthority(t).SelfSign("example.com")
	config.NextProtos = []string{"http/1.1"}
	n.ServeConn(toolstest.WebV4+":443", func(c net.Conn) {
		hello := make([]byte, 5)
		if _, err := io.ReadFull(c, hello); err != nil {
			return
		}
		hello = append(hello, make([]byte, binary.BigEndian.Uint16(hello[3:]))...)
		if _, err := io.ReadFull(c, hello[5:]); err != nil || len(hello) > 1460 {
			return
		}
		server := tls.Server(firstRead{c, io.MultiReader(bytes.NewReader(hello), c)}, config)
		if server.Handshake() == nil {
			_, _ = server.Read(make([]byte, 4096))
			_, _ = io.WriteString(server, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			_ = server.Close()
		}
	})
	got := mustRun(t, n, "https://example.com/")
	is := func(f finding.Finding) bool { return f.Code == webview.CodeHello && f.Severity == finding.Warn }
	if !got.HelloTooLong || !got.Online || got.Verdict != verdictDegraded || !slices.ContainsFunc(got.Findings, is) {
		t.Errorf("%+v", got)
	}
}
