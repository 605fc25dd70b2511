package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"diagnostics/daemon/daemontest"
	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/redis/breaker"
	"diagnostics/shared/waittest"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

const placeToken = "token-between-two-places"

// placed makes the files of a place below a folder, and starts it.
func placed(t *testing.T, dir string, env ...string) *started {
	t.Helper()
	files := []string{"PEER_TOKEN_FILE=" + dir + "/token", "PEER_TLS_KEY_FILE=" + dir + "/key.pem",
		"PEER_TLS_CERT_FILE=" + dir + "/cert.pem"}
	var out bytes.Buffer
	names := append(slices.Clone(files), "PEER_TLS_NAMES=127.0.0.1")
	if err := run(t.Context(), []string{"-init-place"}, names, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	return start(t, append(append(files, "PLACE_ID=fra", "PLACE_NAME=Frankfurt", "PEER_LISTEN_ADDR=0.0.0.0:0"), env...)...)
}

// peerURL is where a place lets others in.
func (s *started) peerURL(t *testing.T) string {
	t.Helper()
	addr, _ := s.log.line(t, "gateway started")["peers"].(string)
	_, port, _ := strings.Cut(addr, "]:")
	return "https://127.0.0.1:" + port
}

func (s *started) postBody(t *testing.T, slug, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(s.url+"/api/tools/"+slug, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer)
}

// Two gateways, one at the other's side, over TLS with a token from a file; a token that is replaced, a place that is
// cut off, and a list that cannot be used.
func TestTwoPlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fra := placed(t, dir)
	list := daemontest.File(t, dir, "places.json", fmt.Appendf(nil,
		`[{"id":"fra","name":"Frankfurt","url":%q,"tokenFile":%q,"caFile":%q}]`, fra.peerURL(t), dir+"/token", dir+"/cert.pem"))
	own := start(t, "PLACE_ID=own", "PLACES_FILE="+list)
	ask := func() (int, string) {
		return own.postBody(t, "port-checker", `{"input":"10.0.0.1:80","options":{"place":"fra"}}`)
	}
	// The called place refuses what it would refuse itself.
	if status, body := ask(); status != 400 || strings.Contains(body, "Frankfurt") {
		t.Errorf("%d %s", status, body)
	}
	status, body := own.postBody(t, "dns-lookup", `{"input":"example.com","options":{"place":"fra"}}`)
	if status != 200 || !strings.Contains(body, `"place":{"id":"fra","name":"Frankfurt"}`) {
		t.Errorf("%d %s", status, body)
	}
	// Both have no tool that needs a worker.
	if status, body := own.postBody(t, "ping", `{"input":"example.com","options":{"place":"fra"}}`); status != 501 ||
		!strings.Contains(body, "Frankfurt") {
		t.Errorf("%d %s", status, body)
	}
	if _, ready := own.get(t, own.url+"/readyz"); !strings.Contains(ready, `"places":{"fra":"ok"}`) {
		t.Error(ready)
	}
	if _, metrics := own.get(t, own.metrics+"/metrics"); !strings.Contains(metrics, `diagnostics_place_up{place="fra"} 1`) ||
		!strings.Contains(metrics, `diagnostics_place_requests_total{outcome="ok",place="fra"} 1`) {
		t.Error("no metrics of the place")
	}
	if _, metrics := fra.get(t, fra.metrics+"/metrics"); !strings.Contains(metrics,
		`diagnostics_requests_total{from="peer",outcome="ok",slug="dns-lookup",status="200"} 1`) {
		t.Error("no metrics of the peer")
	}
}

// What is wrong with the list stops the start.
func TestBadPlacesStopTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := daemontest.File(t, dir, "token", []byte(placeToken))
	short := daemontest.File(t, dir, "short", []byte("short"))
	text := daemontest.File(t, dir, "text", []byte("no certificate"))
	entry := func(id, url, token, more string) string {
		return fmt.Sprintf(`[{"id":%q,"name":"X","url":%q,"tokenFile":%q%s}]`, id, url, token, more)
	}
	for name, tt := range map[string]struct{ list, says string }{
		"an unreadable token": {entry("fra", "https://x.example.net", dir+"/none", ""), "it cannot be read"},
		"a short token":       {entry("fra", "https://x.example.net", short, ""), "its tokenFile does not hold"},
		"no certificate":      {entry("fra", "https://x.example.net", token, `,"caFile":"`+text+`"`), "its caFile"},
		"the own id":          {entry("own", "https://x.example.net", token, ""), "its id is the PLACE_ID"},
		"http":                {entry("fra", "http://x.example.net", token, ""), "its url is http"},
		"no JSON":             {"x", "it is no JSON list"},
	} {
		list := daemontest.File(t, dir, "list-"+strings.ReplaceAll(name, " ", "-"), []byte(tt.list))
		err := run(t.Context(), nil, []string{"PLACE_ID=own", "PLACES_FILE=" + list, "GATEWAY_LISTEN_ADDR=127.0.0.1:0",
			"RDAP_BOOTSTRAP_URL=off"}, io.Discard, io.Discard)
		if err == nil || !strings.HasPrefix(err.Error(), "PLACES_FILE") || !strings.Contains(err.Error(), tt.says) ||
			strings.Contains(err.Error(), placeToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := daemontest.File(t, dir, "tokens", []byte(`{"fra":["short"]}`))
	err := run(t.Context(), nil, []string{"PLACE_ID=own", "PEER_LISTEN_ADDR=127.0.0.1:0", "PEER_TOKENS_FILE=" + bad,
		"GATEWAY_LISTEN_ADDR=127.0.0.1:0", "RDAP_BOOTSTRAP_URL=off"}, io.Discard, io.Discard)
	if err == nil || !strings.HasPrefix(err.Error(), "PEER_TOKENS_FILE") {
		t.Errorf("%v", err)
	}
}

// The list, the tokens of both sides and the certificates are reread, a list that cannot be used is not.
func TestPlacesAreReread(t *testing.T) {
	dir := t.TempDir()
	fra := placed(t, dir, "PEER_TOKENS_FILE="+daemontest.File(t, dir, "tokens.json", []byte(`{"own":["`+placeToken+`"]}`)))
	daemontest.File(t, dir, "client-token", []byte(placeToken+"\n"))
	list := func(name string) []byte {
		return fmt.Appendf(nil, `[{"id":"fra","name":%q,"url":%q,"tokenFile":%q,"caFile":%q}]`, name, fra.peerURL(t),
			dir+"/client-token", dir+"/cert.pem")
	}
	path := daemontest.File(t, dir, "places.json", list("Frankfurt"))
	own := start(t, "PLACE_ID=own", "PLACES_FILE="+path)
	ask := func() (int, string) {
		return own.postBody(t, "dns-lookup", `{"input":"example.com","options":{"place":"fra"}}`)
	}
	until := func(what string, is func() bool) {
		t.Helper()
		waittest.Until(t, what, func() bool { return is() || syscall.Kill(os.Getpid(), syscall.SIGHUP) != nil })
	}
	if status, body := ask(); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	daemontest.File(t, dir, "places.json", list("Frankfurt am Main"))
	until("renamed", func() bool { _, body := ask(); return strings.Contains(body, `"name":"Frankfurt am Main"`) })
	daemontest.File(t, dir, "places.json", []byte("[{}]"))
	until("warned", func() bool {
		line := own.log.find("a file that changed cannot be used, what was read before stays in use")
		return line != nil && line["setting"] == "PLACES_FILE"
	})
	if status, body := ask(); status != 200 || !strings.Contains(body, "am Main") {
		t.Errorf("after a list that cannot be used: %d %s", status, body)
	}
	daemontest.File(t, dir, "places.json", list("Frankfurt"))
	until("the list again", func() bool { _, body := ask(); return strings.Contains(body, `"name":"Frankfurt"`) })
	// The other side takes a second token, then this one sends it, then the first goes.
	const next = "another-token-between-them"
	daemontest.File(t, dir, "tokens.json", []byte(`{"own":["`+placeToken+`","`+next+`"]}`))
	daemontest.File(t, dir, "client-token", []byte(next))
	until("the new token", func() bool { status, _ := ask(); return status == 200 && letsIn(t, fra, next) })
	daemontest.File(t, dir, "tokens.json", []byte(`{"own":["`+next+`"]}`))
	until("without the old token", func() bool { return !letsIn(t, fra, placeToken) })
	if status, body := ask(); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	daemontest.File(t, dir, "tokens.json", []byte(`{}`))
	until("cut off", func() bool { status, _ := ask(); return status == 502 })
}

// letsIn reports whether a place lets a token in.
func letsIn(t *testing.T, place *started, token string) bool {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	req, err := http.NewRequest(http.MethodGet, place.peerURL(t)+"/peer/ready", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// Replicas of a place share the key of pseudonyms through Redis; another place that uses the same Redis has its own.
func TestThePlaceKeyIsShared(t *testing.T) {
	t.Parallel()
	log, server := slog.New(slog.DiscardHandler), miniredis.RunT(t)
	key := func(id string) string {
		b := breaker.New(redis.NewClient(&redis.Options{Addr: server.Addr()}), log)
		t.Cleanup(func() { _ = b.Close() })
		c, err := config.Parse([]string{"PLACE_ID=" + id})
		if err != nil {
			t.Fatal(err)
		}
		k, err := (&service{breaker: b}).placeKey(c, log)
		if err != nil {
			t.Fatal(err)
		}
		return string(k.Get(t.Context()))
	}
	if one, two, other := key("own"), key("own"), key("fra"); one != two || one == other {
		t.Errorf("%q, %q, another place %q", one, two, other)
	}
}
