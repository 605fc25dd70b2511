package places

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"diagnostics/daemon/files"
)

func TestParseFile(t *testing.T) {
	t.Parallel()
	entry := func(id, url, more string) string {
		return fmt.Sprintf(`{"id":%q,"name":"A place","url":%q,"tokenFile":"/t"%s}`, id, url, more)
	}
	const https = "https://fra.example.net:8443"
	for name, tt := range map[string]struct {
		text string
		says string // empty where it is all right
	}{
		"none":                   {`[]`, ""},
		"one":                    {"[" + entry("fra", https, "") + "]", ""},
		"two":                    {"[" + entry("fra", https, "") + "," + entry("sin", https+"/base", "") + "]", ""},
		"a private authority":    {"[" + entry("fra", https, `,"caFile":"/a","clientCertFile":"/c","clientKeyFile":"/k"`) + "]", ""},
		"http on loopback":       {"[" + entry("fra", "http://127.0.0.1:8081", "") + "]", ""},
		"http on localhost":      {"[" + entry("fra", "http://localhost:8081", "") + "]", ""},
		"http on ::1":            {"[" + entry("fra", "http://[::1]:8081", "") + "]", ""},
		"http elsewhere":         {"[" + entry("fra", "http://10.0.0.1:8081", "") + "]", "entry 1: its url is http"},
		"http at a name":         {"[" + entry("fra", "http://localhost.example.net", "") + "]", "entry 1: its url is http"},
		"another scheme":         {"[" + entry("fra", "ftp://x", "") + "]", "entry 1: its url"},
		"a user":                 {"[" + entry("fra", "https://u:p@x", "") + "]", "entry 1: its url"},
		"an empty fragment":      {"[" + entry("fra", https+"#", "") + "]", "entry 1: its url"},
		"a query":                {"[" + entry("fra", "https://x?a", "") + "]", "entry 1: its url"},
		"no host":                {"[" + entry("fra", "https://", "") + "]", "entry 1: its url"},
		"a port that is none":    {"[" + entry("fra", "https://x:65536", "") + "]", "entry 1: its url"},
		"an id twice":            {"[" + entry("fra", https, "") + "," + entry("fra", https, "") + "]", "entry 2: its id stands twice"},
		"the own id":             {"[" + entry("own", https, "") + "]", "entry 1: its id is the PLACE_ID"},
		"all":                    {"[" + entry("all", https, "") + "]", "entry 1: its id"},
		"here":                   {"[" + entry("here", https, "") + "]", "entry 1: its id"},
		"an id of another form":  {"[" + entry("Fra", https, "") + "]", "entry 1: its id"},
		"no id":                  {"[" + entry("", https, "") + "]", "entry 1: its id"},
		"no name":                {`[{"id":"fra","url":"` + https + `","tokenFile":"/t"}]`, "entry 1: its name"},
		"no token":               {`[{"id":"fra","name":"F","url":"` + https + `"}]`, "entry 1: its tokenFile"},
		"half a key pair":        {"[" + entry("fra", https, `,"clientCertFile":"/c"`) + "]", "entry 1: it has one of"},
		"the other half":         {"[" + entry("fra", https, `,"clientKeyFile":"/c"`) + "]", "entry 1: it has one of"},
		"a member that is none":  {"[" + entry("fra", https, `,"cafile":"/c","token":"x"`) + "]", "it is no JSON list"},
		"an object":              {`{}`, "it is no JSON list"},
		"null":                   {`null`, "it is no JSON list"},
		"no JSON":                {`[`, "it is no JSON list"},
		"a second value":         {`[] []`, "it is no JSON list"},
		"a name of control text": {`[{"id":"fra","name":"a\nb","url":"` + https + `","tokenFile":"/t"}]`, "entry 1: its name"},
	} {
		_, err := parseFile([]byte(tt.text), "own")
		if (err == nil) != (tt.says == "") || err != nil && !strings.HasPrefix(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
		if _, is := errors.AsType[files.Reason](err); err != nil && (!is || strings.Contains(err.Error(), "example.net")) {
			t.Errorf("%s: no reason without the file's contents: %v", name, err)
		}
	}
}

func TestParseTokens(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		`{}`:                           true,
		`{"fra":["0123456789abcdef"]}`: true,
		`{"fra":["0123456789abcdef","0123456789abcdeg"],"sin":["0123456789abcdeh"]}`: true,
		`{"fra":["0123456789abcdef","0123456789abcdeg","0123456789abcdeh"]}`:         false,
		`{"fra":[]}`:                     false,
		`{"fra":["0123456789abcde"]}`:    false,
		`{"fra":["0123456789abcdef x"]}`: false,
		`{"fra":["0123456789abcdef"],"sin":["0123456789abcdef"]}`: false,
		`{"all":["0123456789abcdef"]}`:                            false,
		`{"F":["0123456789abcdef"]}`:                              false,
		`{"fra":"0123456789abcdef"}`:                              false,
		`[]`:                                                      false,
		`null`:                                                    false,
		``:                                                        false,
	} {
		_, err := ParseTokens([]byte(text))
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), "0123") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
