package finding

import (
	"strings"
	"testing"
	"time"
)

func TestRender(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		types    string
		args     Args
		template string
		want     string
	}{
		{"", nil, "Plain.", "Plain."},
		{"host text", Args{"host": "example.com"}, "{host} is up.", "example.com is up."},
		{"n number", Args{"n": 1}, "{n} {n:day|days} left.", "1 day left."},
		{"n number", Args{"n": 3}, "{n} {n:day|days} left.", "3 days left."},
		{"n number", Args{"n": 0}, "{n} {n:day|days} left[ of {n}].", "0 days left of 0."},
		{"n number", Args{"n": 12000.5}, "{n}", "12000.5"},
		{"l list", Args{"l": []string{"a", "b", "c"}}, "{l} {l:is|are} missing.", "a, b and c are missing."},
		{"l list", Args{"l": []string{"a"}}, "{l} {l:is|are} missing.", "a is missing."},
		{"l list", Args{"l": []string{}}, "None[, but {l}].", "None."},
		{"l list, r rest", Args{"l": []string{"a", "b"}, "r": 3}, "{l+r}.", "a, b and 3 more."},
		{"l list, r rest", Args{"l": []string{"a"}, "r": true}, "{l+r}.", "a and others."},
		{"l list, r rest", Args{"l": []string{"a", "b"}}, "{l+r}.", "a and b."},
		{"l list, r rest", Args{"r": 3}, "None[ of {l+r}].", "None."},
		{"t duration", Args{"t": 3 * time.Second}, "{t}", "3.0 s"},
		{"t duration", Args{"t": 12345 * time.Microsecond}, "{t}", "12.3 ms"},
		{"t duration", Args{"t": 999.4}, "{t}", "999 ms"},
		{"t duration", Args{"t": 999.5}, "{t}", "1.0 s"},
		{"d span", Args{"d": time.Second}, "{d}", "1 second"},
		{"d span", Args{"d": 119 * time.Minute}, "{d}", "119 minutes"},
		{"d span", Args{"d": 47 * time.Hour}, "{d}", "47 hours"},
		{"d span", Args{"d": 48 * time.Hour}, "{d}", "2 days"},
		{"s seconds", Args{"s": 599}, "{s}", "599 s"},
		{"s seconds", Args{"s": 601}, "{s}", "11 minutes"},
		{"s seconds", Args{"s": 2 * 3600}, "{s}", "2 hours"},
		{"s seconds", Args{"s": 200000}, "{s}", "3 days"},
		{"d day", Args{"d": time.Date(2027, 1, 13, 23, 59, 0, 0, time.UTC)}, "Until {d}.", "Until 13 January 2027."},
		{"p percent", Args{"p": 100.0 / 3}, "{p}", "33.3 %"},
		{"p percent", Args{"p": 50}, "{p}", "50 %"},
		{"n count", Args{"n": 999}, "{n}", "999"},
		{"n count", Args{"n": 1234567}, "{n} {n:octet|octets}", "1,234,567 octets"},
		{"w wait", Args{"w": 200 * time.Millisecond}, "In {w}.", "In 1 second."},
		{"w wait", Args{"w": 12001 * time.Millisecond}, "In {w}.", "In 13 seconds."},
		{"w wait", Args{"w": 121 * time.Second}, "In {w}.", "In 3 minutes."},
		{"f flag", Args{"f": true}, "It{f? also} works{f?, slowly|}.", "It also works, slowly."},
		{"f flag", Args{"f": false}, "It{f? also} {f?works|fails}.", "It fails."},
		{"a text, b text", Args{"a": "x"}, "[a {a}][, b {b}].", "a x."},
		{"a text", Args{"a": "x{b}[c]"}, "{a}", "x{b}[c]"},
		{"a text", nil, `\[{a}\] \{a\}`, "[] {a}"},
		{"a number", Args{"a": "text"}, "x[{a}]", "x"},
	} {
		row := Row{Args: tt.types, Message: tt.template, State: OK}
		if got := (Rows{"X": row}).Conclude("X", tt.args).Message; got != tt.want {
			t.Errorf("%s of %v: %q, want %q", tt.template, tt.args, got, tt.want)
		}
	}
}

// An argument can name a row, whose clause becomes a part of the sentence, with arguments among the same ones.
func TestClauses(t *testing.T) {
	t.Parallel()
	shared := Rows{
		"REFUSED": {Severity: Fail, Group: Broken, Weight: 90, Args: "host text, port number",
			Message: "{host} refused the connection[ on port {port}].", Clause: "it refused the connection[ on port {port}]"},
		"LOOP": {Args: "after number", Message: "The redirects form a loop after {after}."},
	}
	rows := Rows{
		"DOWN":     {State: Failed, Args: "host text, reason code", Message: "{host} is down[: {reason}].", Brief: "Down"},
		"TO_DOWNS": {State: Failed, Args: "reason code", Message: "{reason}!", Brief: "Down"},
	}.WithClauses(shared)
	for want, args := range map[string]Args{
		"a.example is down: it refused the connection on port 443.": {"host": "a.example", "port": 443, "reason": "REFUSED"},
		"a.example is down: The redirects form a loop after 3..":    {"host": "a.example", "after": 3, "reason": "LOOP"},
		"a.example is down.": {"host": "a.example", "reason": "NO_ROW"},
	} {
		if got := rows.Conclude("DOWN", args).Message; got != want {
			t.Errorf("%v: %q", args, got)
		}
	}
	itself := Args{"host": "a.example", "reason": "DOWN"}
	if got := rows.Conclude("DOWN", itself).Message; strings.Count(got, "is down") > maxDepth+1 {
		t.Errorf("a row that names itself: %q", got)
	}
	rows["SAYS"] = Row{Args: "host text, reason sentence", Message: "{reason} Look at {host}."}
	want := "a.example refused the connection. Look at a.example."
	if got := rows.Sentence("SAYS", Args{"host": "a.example", "reason": "REFUSED"}); got != want {
		t.Errorf("%q", got)
	}
	rows["SEEN"] = Row{State: Failed, Args: "host text, reason continued", Message: "Seen: {reason}, of {host}.",
		Brief: "Seen: {reason}"}
	rows["OLD"] = Row{Message: "The version is old.", Clause: "it is old", Brief: "Old"}
	if c := rows.Conclude("SEEN", Args{"host": "a", "reason": "OLD"}); c.Message != "Seen: the version is old, of a." ||
		c.Brief != "Seen: Old" {
		t.Errorf("%+v", c)
	}
	if f := rows["REFUSED"]; f.Severity != "" || shared["REFUSED"].Severity == "" {
		t.Errorf("the clause is a finding too: %+v", f)
	}
	place := Values{"host": []byte(`"a.example"`), "reason": []byte(`"REFUSED"`), "port": []byte(`"no number"`), "x": []byte("1")}
	if got := rows.accept(rows["DOWN"], place); len(got) != 2 || got["port"] != nil || got["x"] != nil {
		t.Errorf("accepted: %v", got)
	}
}

func TestBriefIsBounded(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{24: strings.Repeat("ä", 24), 25: strings.Repeat("ä", 23) + "…"} {
		rows := Rows{"X": {State: OK, Args: "a text", Brief: "{a}", Message: "."}}
		if got := rows.Conclude("X", Args{"a": strings.Repeat("ä", n)}).Brief; got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// Every mistake in a row is found.
func TestCheck(t *testing.T) {
	t.Parallel()
	good := Row{State: OK, Severity: Warn, Group: Safer, Weight: 20, Args: "a text, n number", Message: "{a} has {n}.",
		Brief: "{n}"}
	if problems := (Rows{"X": good}).Check(); problems != nil {
		t.Error(problems)
	}
	for want, change := range map[string]func(*Row){
		"no type":                      func(r *Row) { r.Args = "a string, n number" },
		"is not declared":              func(r *Row) { r.Remedy = "{b}" },
		"is not used":                  func(r *Row) { r.Message = "{n}s." },
		"consists of one argument":     func(r *Row) { r.Message, r.Meaning = "{a}", "{n}" },
		"a brace is not closed":        func(r *Row) { r.Meaning = "{a" },
		"a bracket is not closed":      func(r *Row) { r.Meaning = "[a" },
		"brackets do not match":        func(r *Row) { r.Meaning = "a]" },
		"no message":                   func(r *Row) { r.Message, r.Meaning = "", "{a}{n}" },
		"a conclusion without a brief": func(r *Row) { r.Brief = "" },
		"the weight 60":                func(r *Row) { r.Weight = 60 },
		"the weight 19":                func(r *Row) { r.Weight = 19 },
	} {
		row := good
		change(&row)
		if got := strings.Join((Rows{"X": row}).Check(), "; "); !strings.HasPrefix(got, "X: ") ||
			!strings.Contains(got, want) {
			t.Errorf("%s: %q", want, got)
		}
	}
}
