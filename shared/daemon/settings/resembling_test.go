package settings

import (
	"slices"
	"strings"
	"testing"
)

func TestResembling(t *testing.T) {
	t.Parallel()
	all := []Setting{{Name: "LOG_LEVEL"}, {Name: "RATE_LIMIT_REQUESTS"}, {Name: "RATE_LIMIT_WINDOW"},
		{Name: "DIAGNOSTICS_WORKER_URL"}, {Name: "DIAGNOSTICS_WORKER_TOKEN", FromFile: true}, {Name: "PUBLIC_ORIGIN"},
		{Name: "DNS_ROOT_HINTS_FILE"}}
	for variable, setting := range map[string]string{ // "" for no warning
		"RATE_LIMIT_REQUESTS=30":          "",
		"DIAGNOSTICS_WORKER_TOKEN_FILE=x": "",
		"BESIDE_WORKER_URL=x":             "",

		"RATE_LIMIT_REQUEST=30":           "RATE_LIMIT_REQUESTS",
		"RATE_LIMT_REQUESTS=30":           "RATE_LIMIT_REQUESTS",
		"RATE_LIMIT_REQEUSTS=30":          "RATE_LIMIT_REQUESTS",
		"RATELIMIT_REQUEST=30":            "RATE_LIMIT_REQUESTS",
		"rate_limit_requests=30":          "RATE_LIMIT_REQUESTS",
		"RTLIMITREQUESTS=30":              "RATE_LIMIT_REQUESTS", // two letters
		"RTLMITREQUESTS=30":               "",                    // three
		"LOG_LEVL=debug":                  "LOG_LEVEL",
		"LOGLEVELS=debug":                 "LOG_LEVEL",
		"LOG_LVL=debug":                   "", // two letters of a short name
		"DIAGNOSTICS_WORKER_URLS=x":       "DIAGNOSTICS_WORKER_URL",
		"DIAGNOSTICS_WORKER_TOKEN_FIEL=x": "DIAGNOSTICS_WORKER_TOKEN",
		"DIAGNOSTICS_WORKER_TOKENS=x":     "DIAGNOSTICS_WORKER_TOKEN",
		"PUBLIC_ORIGIN_FILE=x":            "PUBLIC_ORIGIN", // which no file holds
		"RATE_LIMIT_REQUEST=":             "",              // as good as not set

		// The beginning that several settings share.
		"RATE_LIMIT_MAXIMUM=30":       "RATE_LIMIT_WINDOW",
		"rate_limit_per_client=30":    "RATE_LIMIT_REQUESTS",
		"DIAGNOSTICS_WORKER_ADDR=x:1": "DIAGNOSTICS_WORKER_URL",
		"DNS_ROOT_SERVERS=x":          "", // of one setting only
		"RATE_LIMITS=30":              "",

		// Variables of others.
		"PATH=/bin": "", "HOME=/root": "", "LOG_DIR=/x": "", "PUBLIC_URL=x": "", "HOSTNAME=x": "", "TZ=UTC": "",
		"DIAGNOSTICS_WORKER_SERVICE_HOST=10.0.0.1":        "",
		"DIAGNOSTICS_WORKER_SERVICE_PORT=8081":            "",
		"DIAGNOSTICS_WORKER_SERVICE_PORT_HTTP=8081":       "",
		"DIAGNOSTICS_WORKER_PORT=tcp://10.0.0.1:8081":     "",
		"DIAGNOSTICS_WORKER_PORT_8081_TCP=tcp://10.0.0.1": "",
		"DIAGNOSTICS_WORKER_PORT_8081_TCP_ADDR=10.0.0.1":  "",
		"DIAGNOSTICS_WORKER_PORT_8081_TCP_PROTO=tcp":      "",
		"DIAGNOSTICS_WORKER_PORT_8081_TCP_PORT=8081":      "",
		"DIAGNOSTICS_WORKER_PORT=8081":                    "DIAGNOSTICS_WORKER_URL",
		"GATEWAY_PORT_8080_TCP=tcp://10.0.0.1:8080":       "",
		"RATE_LIMIT_SERVICE_PORT=8080":                    "",
		"no pair":                                         "",
		"=::=::":                                          "",
	} {
		var want []Resemblance
		if setting != "" {
			name, _, _ := strings.Cut(variable, "=")
			want = []Resemblance{{name, setting}}
		}
		if got := Resembling(all, []string{variable}, "BESIDE_WORKER_URL"); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", variable, got, want)
		}
	}
}
