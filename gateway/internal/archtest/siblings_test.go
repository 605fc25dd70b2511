package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tools share a package, so that no import can tell when one leans on another: a tool's files may use what they declare
// themselves and what the shared_*.go files declare, and all.go alone may use every tool.

// owner names the tool that a file belongs to: the longest slug that its name starts with.
func owner(file string, slugs []string) string {
	name := strings.TrimSuffix(file, ".go")
	best := ""
	for _, slug := range slugs {
		if (name == slug || strings.HasPrefix(name, slug+"_")) && len(slug) > len(best) {
			best = slug
		}
	}
	return best
}

// siblings gives "file uses name of other" for every use of another tool's declarations.
func siblings(t *testing.T, dir string, slugs []string) (out []string, files int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	parsed, declared := map[string]*ast.File{}, map[string]string{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed[e.Name()] = file
		// The parser's own resolution is deprecated for types, but says just what is wanted here: what a file declares at
		// its top, and which names it takes from elsewhere.
		for name := range file.Scope.Objects { //nolint:staticcheck // see above
			declared[name] = e.Name()
		}
	}
	for name, file := range parsed {
		mine := owner(name, slugs)
		if mine == "" && (name == "all.go" || strings.HasPrefix(name, "shared_")) {
			if name == "all.go" {
				continue
			}
		} else if mine == "" {
			out = append(out, fmt.Sprintf("%s belongs to no tool and is not named shared_*.go", name))
		}
		for _, ident := range file.Unresolved {
			from, ours := declared[ident.Name]
			if theirs := owner(from, slugs); ours && theirs != "" && theirs != mine {
				out = append(out, fmt.Sprintf("%s uses %s of %s", name, ident.Name, from))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), len(parsed)
}

func TestToolsDoNotLeanOnEachOther(t *testing.T) {
	t.Parallel()
	slugs := []string{"dns_lookup", "http_headers", "ssl_checker", "uptime", "port_checker", "my_ip", "ip_geolocation", "asn_lookup", "whois_lookup",
		"redirect_checker", "robots_sitemap", "dns_resolver_check", "email_dns_health", "security_headers", "traceroute", "ping", "packet_loss"}
	found, files := siblings(t, filepath.Join(root, "gateway/internal/tools"), slugs)
	for _, use := range found {
		t.Errorf("%s\n\ta tool stands alone: what two of them need is in shared_*.go, or below tools", use)
	}
	if files < len(slugs) {
		t.Errorf("only %d files were looked at", files)
	}
}

func TestSiblingsCanFail(t *testing.T) {
	t.Parallel()
	found, _ := siblings(t, "testdata/siblings", []string{"one", "two"})
	want := []string{"one.go uses secondThing of two_parts.go", "shared_all.go uses firstThing of one.go", "stray.go belongs to no tool and is not named shared_*.go"}
	if !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}
