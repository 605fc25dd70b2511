package settings

import (
	"slices"
	"strings"
	"testing"
)

func TestMisspellings(t *testing.T) {
	t.Parallel()
	all := []Setting{{Name: "RATE_LIMIT_REQUESTS"}, {Name: "LOG_LEVEL"}, {Name: "WORKER_TOKEN", FromFile: true}}
	for _, tt := range []struct {
		env   string
		meant string // "" for no warning
	}{
		{"RATE_LIMIT_REQUESTS=30", ""},
		{"RATE_LIMT_REQUESTS=30", "RATE_LIMIT_REQUESTS"},
		{"RATE_LIMIT_REQUEST=30", "RATE_LIMIT_REQUESTS"},
		{"RATE_LIMIT_REQEUSTS=30", "RATE_LIMIT_REQUESTS"},
		{"rate_limit_requests=30", "RATE_LIMIT_REQUESTS"},
		{"RATELIMITREQUESTS=30", "RATE_LIMIT_REQUESTS"},
		{"RTELIMITREQUESTS=30", ""}, // three letters
		{"RATE_LIMT_REQUESTS=", ""}, // as good as not set
		{"LOG_LEVL=debug", "LOG_LEVEL"},
		{"LOGLEVEL=debug", "LOG_LEVEL"},
		{"LOGLEVL=debug", ""}, // two letters of a short name
		{"LOG_LEVELS=debug", "LOG_LEVEL"},
		{"LOGS_LEVELS=debug", "LOG_LEVEL"},
		{"BLOG_LEVELED=debug", ""},
		{"WORKER_TOKEN_FIEL=/x", "WORKER_TOKEN_FILE"},
		{"WORKER_TOKN=x", "WORKER_TOKEN"},
		{"PATH=/bin", ""},
		{"HOME=/root", ""},
	} {
		var want []Misspelling
		if tt.meant != "" {
			name, _, _ := strings.Cut(tt.env, "=")
			want = []Misspelling{{name, tt.meant}}
		}
		if got := Misspellings([]string{tt.env}, all); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", tt.env, got, want)
		}
	}
}
