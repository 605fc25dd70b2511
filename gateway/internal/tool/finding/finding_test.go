package finding

import (
	"encoding/json"
	"testing"
	"time"
)

var sample = Rows{
	"UP":   {State: OK, Args: "host text", Message: "{host} is up.", Brief: "Up", Meaning: "{host} works."},
	"DOWN": {State: Failed, Message: "It is down.", Brief: "Down"},
	"A": {Severity: Warn, Group: Broken, Weight: 60, Args: "host text, took duration", Message: "{host} is slow: {took}.",
		Remedy: "Make {host} faster.", Paste: Paste{PasteDNS, "{host}. TXT y"}, Reference: "https://example.com/a"},
	"B": {Severity: Info, Group: Note, Message: "All of it."},
}

func TestFind(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal([]any{sample.Find("A", "x:80", Args{"host": "x", "took": 3 * time.Millisecond}),
		sample.Find("B", "", nil), sample.Conclude("UP", Args{"host": "x"}), sample.Conclude("DOWN", nil)})
	want := `[{"code":"A","severity":"warn","group":"broken","weight":60,"message":"x is slow: 3.00 ms.",` +
		`"remedy":"Make x faster.","paste":{"kind":"dns","text":"x. TXT y"},"subject":"x:80",` +
		`"reference":"https://example.com/a","args":{"host":"x","took":3}},` +
		`{"code":"B","severity":"info","group":"note","weight":0,"message":"All of it.","remedy":null,"paste":null,` +
		`"subject":null,"reference":null,"args":{}},` +
		`{"state":"ok","code":"UP","message":"x is up.","brief":"Up","meaning":"x works.","args":{"host":"x"}},` +
		`{"state":"fail","code":"DOWN","message":"It is down.","brief":"Down","meaning":null,"args":{}}]`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

func TestAnUnknownCodeIsNoFailure(t *testing.T) {
	t.Parallel()
	if f := sample.Find("X", "", nil); f.Code != "X" || f.Severity != Info || f.Group != Note || f.Message != "X" {
		t.Errorf("%+v", f)
	}
	if c := sample.Conclude("X", nil); c.Code != "X" || c.State != Unknown || c.Message != "X" {
		t.Errorf("%+v", c)
	}
}

func TestWorstFirst(t *testing.T) {
	t.Parallel()
	f := func(code string, g Group, s Severity, w int) Finding {
		return Finding{Code: code, Group: g, Severity: s, Weight: w}
	}
	r := NewReport(Conclusion{}, f("3", Note, Fail, 9), f("2", Safer, Info, 50), f("1", Broken, Warn, 80),
		f("0", Broken, Fail, 80))
	order := ""
	for _, one := range r.Findings {
		order += one.Code
	}
	if order != "0123" {
		t.Error(order)
	}
	if empty, err := json.Marshal(NewReport(Conclusion{})); err != nil ||
		string(empty) != `{"conclusion":{"state":"","code":"","message":"","brief":"","meaning":null,"args":null},"findings":[]}` {
		t.Errorf("%s, %v", empty, err)
	}
}
