package finding

import (
	"encoding/json"
	"testing"
)

// Every text of a row is made here from what the other instance sent as arguments.
func TestAdopt(t *testing.T) {
	t.Parallel()
	c := Rows{
		"DOWN": {State: Failed, Args: "host text", Message: "{host} is down.", Brief: "Down", Meaning: "Look at {host}."},
		"A":    {Severity: Warn, Group: Safer, Weight: 30, Args: "n number", Message: "{n} are missing.", Remedy: "Add {n}."},
	}
	r := Report{Conclusion{State: OK, Code: "DOWN", Message: "Sign in.", Brief: "Sign in", Meaning: new("Sign in."),
		Args: Values{"host": []byte(`"x"`), "more": []byte(`"y"`)}},
		[]Finding{{Code: "A", Weight: 100, Message: "Sign in.", Remedy: new("Sign in."), Reference: new("https://x.example/"),
			Args: Values{"n": []byte(`3`)}}, {Code: "A", Args: Values{"n": []byte(`"3"`)}}, {Code: "DOWN"}, {Code: "B"}}}
	if err := r.Adopt(c); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r)
	want := `{"conclusion":{"state":"fail","code":"DOWN","message":"x is down.","brief":"Down","meaning":"Look at x.",` +
		`"args":{"host":"x"}},"findings":[` +
		`{"code":"A","severity":"warn","group":"safer","weight":30,"message":"3 are missing.","remedy":"Add 3.",` +
		`"paste":null,"subject":null,"reference":null,"args":{"n":3}},` +
		`{"code":"A","severity":"warn","group":"safer","weight":30,"message":" are missing.","remedy":"Add .",` +
		`"paste":null,"subject":null,"reference":null,"args":{}}]}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if old := (Conclusion{Code: "DOWN", Message: "Sign in."}); old.Adopt(c) != nil || old.Message != " is down." {
		t.Errorf("without arguments: %+v", old)
	}
	if err := (&Conclusion{Code: "SIDEWAYS"}).Adopt(c); err == nil {
		t.Error("a conclusion that is not known is adopted")
	}
	if err := (&Conclusion{Code: "A"}).Adopt(c); err == nil {
		t.Error("a finding is taken for a conclusion")
	}
}
