package toolstest

import (
	"bufio"
	"io"
	"net"
	"net/http"

	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tool"
)

// ServeRaw answers every request at the public address with these very bytes.
func ServeRaw(n *egresstest.Network, public, answer string) {
	n.ServeConn(public, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.WriteString(c, answer)
		}
	})
}

// StatusHandler answers with a status and no body.
func StatusHandler(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

// RedirectHandler answers with a redirect to the Location.
func RedirectHandler(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	})
}

// URLInput is a body as the edge hands it over.
func URLInput(url string) tool.Input { return tool.Input{Text: url} }
