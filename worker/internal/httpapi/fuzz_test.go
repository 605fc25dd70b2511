package httpapi

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"diagnostics/shared/netpolicy"
	"diagnostics/shared/workerapi"
)

// FuzzReadJob holds that whatever a gateway sends, only a public address is ever probed, for holders whose names fit.
func FuzzReadJob(f *testing.F) {
	for _, body := range []string{
		`{"target":"11.90.0.1","hostname":"a.com","requestId":"0f1c2a34-5b6d-4e7f-8a90-b1c2d3e4f506","client":"x","group":"y"}`,
		`{"target":"::ffff:127.0.0.1"}`, `{"target":"fe80::1%eth0"}`, `{"target":7}`, `[]`, `{"target":"10.0.0.1"}{}`, ``,
		`{"target":"11.90.0.1","options":{"protocol":"tcp","port":443}}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/ping", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		rc := &requestContext{w: httptest.NewRecorder(), r: r, start: time.Now()}
		if _, refused := new(Server).readTrace(rc); refused != nil {
			if refused.status < 400 || refused.status > 499 || refused.sentence == "" {
				t.Errorf("%q: %+v", body, refused)
			}
			return
		}
		if !netpolicy.Judge(rc.target).Public || rc.target.Zone() != "" || rc.target.Is4In6() {
			t.Errorf("%q: would probe %v", body, rc.target)
		}
		for _, name := range rc.holder {
			if !workerapi.ValidPseudonym(name) {
				t.Errorf("%q: holder %+v", body, rc.holder)
			}
		}
	})
}
