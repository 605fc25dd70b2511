package settings

import (
	"slices"
	"strings"
	"testing"
)

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
