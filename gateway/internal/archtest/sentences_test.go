package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayHoldSentences are the files outside catalogues whose sentences no visitor reads as part of a result, by the
// beginning of their paths.
var mayHoldSentences = map[string]string{
	"tools/internal/toolstest/":              "helpers of tests",
	"egress/egresstest/":                     "helpers of tests",
	"analyze/weight/":                        "texts of benchmarks",
	"analyze/certs/certtest/":                "helpers of tests",
	"providers/rdap/bootstrap/copy/":         "IANA's own files",
	"tools/dnsdelegation/names.go":           "the name of the root",
	"tools/dnslookup/types.go":               "what an option may be, for the form",
	"tools/emaildnshealth/emaildnshealth.go": "what an option may be, for the form",
	"tools/securityheaders/permissions.go":   "names of features",
	"tools/sslchecker/connect.go":            "texts of Go's own errors",

	"providers/rdap/country.go":   "names of countries",
	"providers/rdap/redaction.go": "words of registries",
	"providers/whois/formats.go":  "words of registries",
	"providers/whois/phrases.go":  "words of registries",

	"egress/dnsclient/extended_errors.go": "IANA's names of codes",
	"egress/http_texts.go":                "texts of Go's own errors",
	"egress/tlsscan/protection.go":        "labels of the protocol",
}

// Every sentence about a result stands in a catalogue, as a row with a code: see package finding. Errors, logs and
// panics are for operators, and an option's description is for the form and OpenAPI.
func TestSentencesStandInCatalogues(t *testing.T) {
	t.Parallel()
	for _, area := range []string{"tools", "analyze", "providers", "egress"} {
		for _, found := range sentences(t, filepath.Join("..", area)) {
			t.Error(found)
		}
	}
}

func TestWhatIsASentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"The certificate of this host expires soon.": true,
		"%s has no address":                          true,
		"redirects form a loop":                      true,
		"no-store, must-revalidate":                  false,
		"v=spf1 include:%s ~all":                     false,
		"text/html; charset=utf-8":                   false,
		"example.com. IN TXT":                        false,
	} {
		if got := isSentence(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// sentences returns the literals that are sentences, as "file:line: text".
func sentences(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			filepath.Base(path) == "catalogue.go" {
			return err
		}
		for prefix := range mayHoldSentences {
			if strings.HasPrefix(strings.TrimPrefix(filepath.ToSlash(path), "../"), prefix) {
				return nil
			}
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec, *ast.Field:
				return false
			case *ast.CallExpr:
				return !forOperators(n.Fun)
			case *ast.FuncDecl:
				return n.Name.Name != "Error"
			case *ast.KeyValueExpr:
				key, _ := n.Key.(*ast.Ident)
				return key == nil || key.Name != "Doc" && key.Name != "Description"
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && isSentence(text) {
					found = append(found, files.Position(n.Pos()).String()+": "+text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// forOperators reports whether a function takes texts for the log or for programmers.
func forOperators(function ast.Expr) bool {
	switch f := function.(type) {
	case *ast.Ident:
		return f.Name == "panic"
	case *ast.SelectorExpr:
		of, _ := f.X.(*ast.Ident)
		return of != nil && (of.Name == "errors" || of.Name == "slog" || of.Name == "regexp") ||
			slices.Contains([]string{"Errorf", "Error", "Warn", "Info"}, f.Sel.Name) || strings.HasSuffix(f.Sel.Name, "Context")
	}
	return false
}

var word = regexp.MustCompile(`^["“(\[]?[A-Za-z][a-z’']*[,.;:”")\]]*$`)

// isSentence reports whether a text is a sentence or a part of one: at least three words, two of them next to each
// other and in lower case.
func isSentence(text string) bool {
	words, pair, last := 0, false, false
	for _, field := range strings.Fields(text) {
		is := word.MatchString(field)
		lower := is && strings.ToLower(field[:1]) == field[:1]
		if is {
			words++
		}
		pair = pair || lower && last
		last = lower
	}
	return words >= 3 && pair
}
