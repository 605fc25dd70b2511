package finding

import (
	"encoding/json"
	"testing"
)

var sample = Catalogue{
	Conclusions: map[string]Outcome{"UP": {OK, "%s is up."}, "DOWN": {Failed, "It is down."}},
	Findings: map[string]Entry{
		"A": {Warn, Broken, 50, "%[1]s is slow: %[2]d ms.", "Make %[1]s faster.", "https://example.com/a"},
		"B": {Severity: Info, Group: Note, Message: "All of it."},
	},
}

func TestFind(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal([]any{sample.Find("A", "x", 3).About("x:80").WithPaste(PasteDNS, "x. TXT y"),
		sample.Find("B"),
		sample.Conclude("UP", "x"), sample.Conclude("DOWN")})
	want := `[{"code":"A","severity":"warn","group":"broken","weight":50,"message":"x is slow: 3 ms.",` +
		`"remedy":"Make x faster.","paste":{"kind":"dns","text":"x. TXT y"},"subject":"x:80","reference":"https://example.com/a"},` +
		`{"code":"B","severity":"info","group":"note","weight":0,"message":"All of it.","remedy":null,"paste":null,` +
		`"subject":null,"reference":null},{"state":"ok","code":"UP","message":"x is up."},` +
		`{"state":"fail","code":"DOWN","message":"It is down."}]`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

func TestAnUnknownCodeIsNoFailure(t *testing.T) {
	t.Parallel()
	if f := sample.Find("X", 1); f.Code != "X" || f.Severity != Info || f.Group != Note || f.Message != "X" {
		t.Errorf("%+v", f)
	}
	if c := sample.Conclude("X", 1); c.Code != "X" || c.State != Unknown || c.Message != "X" {
		t.Errorf("%+v", c)
	}
}

func TestWorstFirst(t *testing.T) {
	t.Parallel()
	f := func(code string, g Group, s Severity, w int) Finding {
		return Finding{Code: code, Group: g, Severity: s, Weight: w}
	}
	r := NewReport(Conclusion{}, f("7", Note, Fail, 90), f("6", Safer, Info, 90), f("5", Safer, Warn, 1), f("3",
		Broken, Fail, 10),
		f("4", Broken, Warn, 99), f("1", Broken, Fail, 80), f("2", Broken, Fail, 80))
	order := ""
	for _, one := range r.Findings {
		order += one.Code
	}
	if order != "1234567" {
		t.Error(order)
	}
	if empty, err := json.Marshal(NewReport(Conclusion{})); err != nil ||
		string(empty) != `{"conclusion":{"state":"","code":"","message":""},"findings":[]}` {
		t.Errorf("%s, %v", empty, err)
	}
}
