package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Common is embedded, as a service embeds what all of them have.
type Common struct {
	Format Choice `envconfig:"SAMPLE_FORMAT" default:"json" oneof:"json text" takes:"json or text" doc:"how"`
}

// sample has a field of each type and each tag.
type sample struct {
	Addr   ListenAddr `envconfig:"SAMPLE_ADDR" default:"127.0.0.1:8080" takes:"host:port" doc:"where"`
	On     Bool       `envconfig:"SAMPLE_ON" default:"false" takes:"true or false" doc:"whether"`
	Count  Count      `envconfig:"SAMPLE_COUNT" default:"30" takes:"a whole number" doc:"how many"`
	Least  Count      `envconfig:"SAMPLE_LEAST" default:"1" positive:"true" takes:"a whole number above 0" doc:"how many at least"`
	Window Duration   `envconfig:"SAMPLE_WINDOW" default:"60s" positive:"true" takes:"a positive duration" doc:"how long"`
	Delay  Duration   `envconfig:"SAMPLE_DELAY" takes:"a duration" doc:"how late"`
	Token  Secret     `envconfig:"SAMPLE_TOKEN" file:"true" takes:"a token" doc:"who"`
	Word   word       `envconfig:"SAMPLE_WORD" file:"true" takes:"one word" doc:"what"`
	Flag   Bool       `envconfig:"SAMPLE_FLAG" hidden:"true" takes:"true or false"`

	Common
}

// word reads itself by UnmarshalText.
type word string

func (w *word) UnmarshalText(text []byte) error {
	if strings.ContainsAny(string(text), " \n") {
		return ErrMalformed
	}
	*w = word(text)
	return nil
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got, err := Parse[sample]([]string{"PATH=/bin", "no variable"})
	want := sample{Addr: "127.0.0.1:8080", Count: 30, Least: 1, Window: Duration(time.Minute)}
	want.Format = "json"
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestEmptyIsAbsent(t *testing.T) {
	t.Parallel()
	want, _ := Parse[sample](nil)
	for _, s := range Of[sample]() {
		if got, err := Parse[sample]([]string{s.Name + "=", s.Name + "_FILE="}); err != nil || got != want {
			t.Errorf("%s set but empty: %+v, %v", s.Name, got, err)
		}
	}
}

// A rejected value is reported in one line with the setting's name and its accepted values, and never the value.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		taken, refused []string
	}{
		{"SAMPLE_ADDR", []string{":8080", ":0", "127.0.0.1:65535", "[::1]:8081", "[::1]:0", "localhost:1", "localhost:65535",
			"192.0.2.0/24:80", "[2001:db8::/64]:80"},
			[]string{"8080", "true", "x", "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:http", "::1:80", "a b:1", "http://x:1",
				"http://127.0.0.1:80", "192.0.2.0/33:80", "a/b:80"}},
		{"SAMPLE_ON", []string{"true", "false"}, []string{"TRUE", "1", "yes", "on", "t", " true"}},
		{"SAMPLE_COUNT", []string{"0", "1", "1000000000"},
			[]string{"1000000001", "4294967297", "99999999999999999999", "-1", "+1", "0x10", "1e3", "1_000", "1.5", " 1", "x",
				"many"}},
		{"SAMPLE_LEAST", []string{"1", "1000000000"}, []string{"0", "-1", "1000000001"}},
		{"SAMPLE_WINDOW", []string{"1m30s", "1ns"}, []string{"0s", "-1s", "60", "1 minute"}},
		{"SAMPLE_DELAY", []string{"0s", "1m30s", "1h"}, []string{"5", "-1s", "soon"}},
		{"SAMPLE_FORMAT", []string{"json", "text"}, []string{"JSON", "logfmt", "json text", " json"}},
		{"SAMPLE_TOKEN", []string{"any thing"}, nil},
		{"SAMPLE_WORD", []string{"word"}, []string{"two words"}},
	} {
		for _, value := range tt.taken {
			if _, err := Parse[sample]([]string{tt.name + "=" + value}); err != nil {
				t.Errorf("%s=%q: %v", tt.name, value, err)
			}
		}
		for _, value := range tt.refused {
			_, err := Parse[sample]([]string{tt.name + "=" + value})
			if err == nil || !strings.HasPrefix(err.Error(), tt.name+" takes ") {
				t.Errorf("%s=%q: %v", tt.name, value, err)
			}
		}
		_, err := Parse[sample]([]string{tt.name + "=hunter2 \x01\n,,,"})
		if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: the line is %q", tt.name, err)
		}
	}
}

// The rules for NAME_FILE: one newline at the end goes, and nothing else does.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "the-token")
	for _, tt := range []struct {
		name  string
		env   []string
		token string
	}{
		{"plain", []string{"SAMPLE_TOKEN_FILE=" + plain}, "the-token"},
		{"a newline", []string{"SAMPLE_TOKEN_FILE=" + write("newline", "the-token\n")}, "the-token"},
		{"CRLF", []string{"SAMPLE_TOKEN_FILE=" + write("crlf", "the-token\r\n")}, "the-token"},
		{"two newlines", []string{"SAMPLE_TOKEN_FILE=" + write("two", "pass word\n\n")}, "pass word\n"},
		{"the longest", []string{"SAMPLE_TOKEN_FILE=" + write("longest", strings.Repeat("x", maxFileBytes))}, strings.Repeat("x", maxFileBytes)},
		{"beside an empty variable", []string{"SAMPLE_TOKEN=", "SAMPLE_TOKEN_FILE=" + plain}, "the-token"},
		{"an empty name beside the variable", []string{"SAMPLE_TOKEN=x", "SAMPLE_TOKEN_FILE="}, "x"},
		{"of a setting that takes none", []string{"SAMPLE_TOKEN=x", "SAMPLE_ADDR_FILE=" + dir}, "x"},
	} {
		if got, err := Parse[sample](tt.env); err != nil || got.Token.Reveal() != tt.token {
			t.Errorf("%s: %q, %v", tt.name, got.Token.Reveal(), err)
		}
	}
	for _, tt := range []struct {
		name string
		env  []string
		line string
	}{
		{"absent", []string{"SAMPLE_TOKEN_FILE=" + filepath.Join(dir, "none")}, "SAMPLE_TOKEN_FILE takes the path of a readable file that holds a token"},
		{"empty", []string{"SAMPLE_TOKEN_FILE=" + write("empty", "")}, "SAMPLE_TOKEN_FILE takes "},
		{"only a newline", []string{"SAMPLE_TOKEN_FILE=" + write("nl", "\n")}, "SAMPLE_TOKEN_FILE takes "},
		{"a directory", []string{"SAMPLE_TOKEN_FILE=" + dir}, "SAMPLE_TOKEN_FILE takes "},
		{"too long", []string{"SAMPLE_TOKEN_FILE=" + write("long", strings.Repeat("x", maxFileBytes+1))}, "SAMPLE_TOKEN_FILE takes "},
		{"a NUL", []string{"SAMPLE_TOKEN_FILE=" + write("nul", "a\x00b")}, "SAMPLE_TOKEN_FILE takes "},
		{"a value that is refused", []string{"SAMPLE_WORD_FILE=" + write("bad", "two words\n")}, "SAMPLE_WORD_FILE takes the path of a readable file that holds one word"},
		{"beside the variable", []string{"SAMPLE_TOKEN=x", "SAMPLE_TOKEN_FILE=" + plain}, "SAMPLE_TOKEN and SAMPLE_TOKEN_FILE are both set"},
	} {
		_, err := Parse[sample](tt.env)
		if err == nil || !strings.HasPrefix(err.Error(), tt.line) || strings.Contains(err.Error(), "\n") ||
			strings.Contains(err.Error(), "two words") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in    string
		least int
		want  []string // none: refused
	}{
		{"one", 1, []string{"one"}}, {"one,two", 1, []string{"one", "two"}}, {" one , two ", 1, []string{"one", "two"}}, {"!~", 2, []string{"!~"}},
		{"one,two,three", 1, nil}, {"one,", 1, nil}, {",one", 1, nil}, {",", 1, nil}, {"", 1, nil}, {"a b", 1, nil}, {"a\nb", 1, nil}, {"tökén", 1, nil},
		{"0123456789abcdef", 16, []string{"0123456789abcdef"}}, {"0123456789abcde", 16, nil}, {"0123456789abcdef,short", 16, nil},
	} {
		all, err := ParseTokens(tt.in, tt.least)
		var got []string
		for _, s := range all {
			got = append(got, s.Reveal())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != (tt.want != nil) {
			t.Errorf("%q: %v\n%s", tt.in, err, diff)
		}
	}
}

// The argument counts and the environment of the process does not, where a secret is not left.
func TestTheEnvironmentIsAnArgument(t *testing.T) {
	t.Setenv("SAMPLE_COUNT", "7")
	t.Setenv("SAMPLE_ON", "nonsense")
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Parse[sample]([]string{"SAMPLE_FORMAT=text", "SAMPLE_TOKEN_FILE=" + path})
	if err != nil || got.Count != 30 || got.Format != "text" || got.Token.Reveal() != "hunter2" {
		t.Errorf("%+v, %v", got, err)
	}
	if strings.Contains(strings.Join(os.Environ(), " "), "hunter2") {
		t.Error("the environment holds a secret of a file")
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	want := "| name | default | meaning |\n|---|---|---|\n" +
		"| `SAMPLE_ADDR` | `127.0.0.1:8080` | where |\n| `SAMPLE_ON` | `false` | whether |\n| `SAMPLE_COUNT` | `30` | how many |\n" +
		"| `SAMPLE_LEAST` | `1` | how many at least |\n| `SAMPLE_WINDOW` | `60s` | how long |\n| `SAMPLE_DELAY` | empty | how late |\n" +
		"| `SAMPLE_TOKEN` (or `SAMPLE_TOKEN_FILE`) | empty | who |\n| `SAMPLE_WORD` (or `SAMPLE_WORD_FILE`) | empty | what |\n" +
		"| `SAMPLE_FORMAT` | `json` | how |\n"
	if diff := cmp.Diff(want, Table[sample]()); diff != "" {
		t.Error(diff)
	}
}

// A field that no variable could ever fill is found by the first test that reads the struct.
func TestMistakesInTheStructPanic(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func() []Setting{
		"no tag": Of[struct{ Count Count }],
		"no type": Of[struct {
			Count int `envconfig:"COUNT"`
		}],
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: taken", name)
				}
			}()
			of()
		}()
	}
}

type rotated struct {
	Token Secret   `envconfig:"TOKEN" file:"true" takes:"a token"`
	CA    FilePath `envconfig:"CA_FILE" takes:"the path of a file"`
}

func TestFileOf(t *testing.T) {
	t.Parallel()
	env := []string{"TOKEN_FILE=/a", "CA_FILE=/b", "OTHER_FILE="}
	for name, want := range map[string]string{"TOKEN": "/a", "OTHER": "", "NONE": ""} {
		if got := FileOf(env, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Files that hold a setting are left out; a setting that is itself a path stays.
func TestWithoutFiles(t *testing.T) {
	t.Parallel()
	env := []string{"TOKEN_FILE=/a", "TOKEN=x", "CA_FILE=/b", "TOKEN_FILES=/c"}
	if got := WithoutFiles(Of[rotated](), env); !slices.Equal(got, []string{"TOKEN=x", "CA_FILE=/b", "TOKEN_FILES=/c"}) {
		t.Error(got)
	}
}

func TestFileValue(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{"a": "a", "a\n": "a", "a\r\n": "a", "a\n\n": "a\n", " a": " a",
		"": "", "\n": "", "\r\n": "", "a\x00": "", strings.Repeat("x", maxFileBytes+1): ""} {
		got, err := FileValue([]byte(content))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", content[:min(len(content), 9)], got, err)
		}
	}
	if _, err := FileValue([]byte(strings.Repeat("x", maxFileBytes))); err != nil {
		t.Error(err)
	}
}

func TestPair(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b bool
		want string
	}{
		{true, true, ""}, {false, false, ""},
		{true, false, "A is set without B: set both or neither"}, {false, true, "B is set without A: set both or neither"},
	} {
		err := Pair("A", tt.a, "B", tt.b)
		if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("%v: %v", tt, err)
		}
	}
}
