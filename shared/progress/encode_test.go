package progress

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for _, test := range []struct {
		step Step
		want string
	}{
		{Step{Kind: "hop", Value: map[string]int{"ttl": 3}, At: began.Add(12500 * time.Microsecond)},
			`{"step":{"kind":"hop","hop":{"ttl":3},"atMs":12.5}}` + "\n"},
		{Step{Kind: KindStage, Value: Asking, Whom: "rdap.org", At: began.Add(time.Second)},
			`{"step":{"kind":"stage","stage":"asking","whom":"rdap.org","atMs":1000,"boundMs":30000}}` + "\n"},
		// A run that others joined later may have begun before their requests.
		{Step{Kind: "type", Value: "a\nb", At: began.Add(-time.Second)}, `{"step":{"kind":"type","type":"a\nb","atMs":0}}` + "\n"},
	} {
		var b bytes.Buffer
		if err := test.step.Line(&b, began, 30*time.Second); err != nil || b.String() != test.want {
			t.Errorf("%q, %v; want %q", b.String(), err, test.want)
		}
		if !json.Valid(b.Bytes()) || bytes.Count(b.Bytes(), []byte("\n")) != 1 {
			t.Errorf("%q is not one line of JSON", b.String())
		}
	}
	var b bytes.Buffer
	if err := (Step{Kind: "x", Value: math.NaN()}).Line(&b, began, 0); err == nil || b.Len() != 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"application/x-ndjson":                               true,
		"Application/X-NDJSON":                               true,
		"application/x-ndjson;q=0.1":                         true,
		"application/json, application/x-ndjson":             true,
		"application/x-ndjson;q=0.5, application/json;q=0.4": true,
		"application/x-ndjson;q=0.5, application/json;q=0.5": true,
		"text/html, application/x-ndjson ; q=1.0, */*":       true,
		"application/x-ndjson;q=0.5, */*":                    true,
		"application/x-ndjson;q=0.5, application/json":       false,
		"application/x-ndjson;q=0":                           false,
		"application/x-ndjson;q=0.000":                       false,
		"application/x-ndjson;q=-1":                          false,
		"application/x-ndjson;q=2":                           false,
		"application/x-ndjson;q=NaN":                         false,
		"application/x-ndjson;q=x":                           false,
		"application/x-ndjsonp":                              false,
		"application/json":                                   false,
		"application/*":                                      false,
		"*/*":                                                false,
		"":                                                   false,
		";;,,":                                               false,
	} {
		if got := Wanted([]string{accept}); got != want {
			t.Errorf("%q: %t", accept, got)
		}
	}
	if Wanted(nil) || !Wanted([]string{"application/json;q=0.2", "application/x-ndjson;q=0.3"}) {
		t.Error("several fields")
	}
}

func FuzzWanted(f *testing.F) {
	f.Add("application/x-ndjson;q=0.5, application/json")
	f.Fuzz(func(t *testing.T, accept string) {
		if Wanted([]string{accept}) && !bytes.Contains(bytes.ToLower([]byte(accept)), []byte(MediaType)) {
			t.Errorf("%q asks for a stream", accept)
		}
	})
}
