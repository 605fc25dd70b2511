package docs

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// root is the project's.
const root = "../../../.."

// TestEveryCommandIsRunOrSaysWhyNot: it fails on a page with a command that was never tried.
func TestEveryCommandIsRunOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	blocks, err := Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{Host, Compose} {
		if len(Scripts(blocks, group)) == 0 {
			t.Errorf("no commands of the group %s are found", group)
		}
	}
	for _, b := range blocks {
		if b.Groups == nil && len(b.Reason) < 10 {
			t.Errorf("%s: %q is no reason", b.Where(), b.Reason)
		}
	}
}

// TestNoCommandHidesInText: what operators are to type stands where TestEveryCommandIsRunOrSaysWhyNot sees it. The
// changelog describes the past, and is not to be typed.
func TestNoCommandHidesInText(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d pages: %v", len(files), err)
	}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "CHANGELOG.md" {
			continue
		}
		for _, command := range Inline(string(page)) {
			t.Errorf("%s:%s: write it in a fence, with who runs it", filepath.Base(file), command)
		}
	}
}

func TestInline(t *testing.T) {
	t.Parallel()
	page := "Ask `ss -s`, `docker compose ps redis` and `sudo kill -HUP 1`.\n```sh\ncurl `x`; `ss -s`\n```\n" +
		"After `docker compose up`, by `systemctl reload`, with `ip`, for `ip|client`: `redis-cli --latency`.\n"
	want := []string{"1: ss -s", "1: docker compose ps redis", "1: sudo kill -HUP 1", "5: redis-cli --latency"}
	if got := Inline(page); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	page := strings.Join([]string{
		"# Page", "## First", "<!-- run: host -->", "```sh", "a", "", "b", "```",
		"- item", "  <!-- not run: needs a public name -->", "", "  ```sh", "  c", "    d", "  ```",
		"```json", "{}", "```", "## Second", "<!-- another comment -->", "<!-- run: host, compose -->", "```sh", "e", "```", "",
	}, "\n")
	got, err := Read("page.md", page)
	if err != nil {
		t.Fatal(err)
	}
	want := []Block{
		{File: "page.md", Line: 5, Section: "First", Groups: []string{Host}, Text: "a\n\nb\n"},
		{File: "page.md", Line: 13, Section: "First", Reason: "needs a public name", Text: "c\n  d\n"},
		{File: "page.md", Line: 23, Section: "Second", Groups: []string{Host, Compose}, Text: "e\n"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ page, want string }{
		"commands without a group":  {"```sh\na\n```\n", "x.md:1: nothing says who runs"},
		"a group that is none":      {"<!-- run: hosts -->\n```sh\na\n```\n", `x.md:2: there is no group "hosts"`},
		"another name for commands": {"\n```bash\na\n```\n", `x.md:2: a fence of "bash"`},
		"a fence without language":  {"```\na\n```\n", `x.md:1: a fence of ""`},
		"a comment left behind":     {"<!-- run: host -->\n\ntext\n", "x.md:3: the comment"},
		"a comment before json":     {"<!-- run: host -->\n```json\n{}\n```\n", "x.md:2: the comment"},
		"a fence without an end":    {"<!-- run: host -->\n```sh\na\n", "the last fence has no end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Read("x.md", tt.page)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	blocks := []Block{
		{File: "a.md", Line: 3, Section: "One", Groups: []string{Host}, Text: "a=1\n"},
		{File: "a.md", Line: 9, Section: "One", Groups: []string{Compose}, Text: "b\n"},
		{File: "a.md", Line: 12, Section: "One", Groups: []string{Host}, Text: "echo $a\n"},
		{File: "b.md", Line: 20, Section: "Two", Groups: []string{Host}, Text: "c\n"},
		{File: "b.md", Line: 30, Section: "Two", Reason: "no", Text: "d\n"},
	}
	want := []Script{
		{Name: "a.md", Text: "echo '== a.md:3' >&2\na=1\necho '== a.md:12' >&2\necho $a\n"},
		{Name: "b.md", Text: "echo '== b.md:20' >&2\nc\n"},
	}
	if got := Scripts(blocks, Host); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Scripts(blocks, Host, "Two"); !reflect.DeepEqual(got, want[1:]) {
		t.Errorf("%+v, want %+v", got, want[1:])
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	place := Place{Dir: t.TempDir(), Env: []string{"GIVEN=yes"}, Before: "greet() { echo hello; }\n",
		Instead: strings.NewReplacer("127.0.0.1:8080", "elsewhere")}
	for name, tt := range map[string]struct{ text, want string }{
		"all is well":       {"greet | grep hello\ntest $GIVEN = yes\necho 127.0.0.1:8080 | grep elsewhere\n", ""},
		"a command fails":   {"echo '== a.md:7' >&2\nfalse\necho never\n", "== a.md:7"},
		"one in a pipe":     {"false | true\n", "exit status 1"},
		"a missing setting": {"echo $NEVER_SET\n", "NEVER_SET"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := place.Run(t.Context(), Script{Name: "a.md", Text: tt.text})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
