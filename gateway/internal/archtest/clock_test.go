package archtest

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wallReadings make a number of a moment by the wall clock alone, or drop its monotonic reading. What is counted so
// jumps when the host's clock is set: a limit that locks its client out for an hour, a reader who is cut off.
var wallReadings = []string{"Unix", "UnixMilli", "UnixMicro", "UnixNano"}

// wallUses are those that are right, by package: what they tell is a moment, and no duration.
var wallUses = map[string]string{
	gw + "/internal/cache":             "when a value was fetched, for other processes",
	gw + "/internal/httpapi":           "X-RateLimit-Reset is a moment",
	gw + "/internal/tools/sslchecker":  "a certificate's validity is of the wall clock",
	"diagnostics/worker/internal/icmp": "the kernel's time of arrival; a difference of which somebody set the clock is not believed",
}

func TestDurationsAreOfTheMonotonicClock(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, module := range []string{"gateway", "worker", "shared", "shared/daemon", "shared/hostroute"} {
		for _, p := range list(t, filepath.Join(root, module)) {
			if p.Standard || !strings.HasPrefix(p.ImportPath, "diagnostics/") {
				continue
			}
			for _, use := range inspect(t, p.Dir, p.GoFiles, wallReading) {
				found[p.ImportPath] = true
				if wallUses[p.ImportPath] == "" {
					t.Errorf("%s/%s: a duration must be counted by the monotonic clock (time.Since, Sub)", p.ImportPath, use)
				}
			}
		}
	}
	for path := range wallUses {
		if !found[path] {
			t.Errorf("%s reads the wall clock no more: take it off the list", path)
		}
	}
}

// wallReading names a call of one of the wallReadings, or of Round(0).
func wallReading(n ast.Node, imports map[string]string) string {
	call, is := n.(*ast.CallExpr)
	if !is || selected(call.Fun, imports) != "" {
		return ""
	}
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	switch name := method.Sel.Name; {
	case slices.Contains(wallReadings, name) && len(call.Args) == 0:
		return name
	case name == "Round" && len(call.Args) == 1:
		if zero, is := call.Args[0].(*ast.BasicLit); is && zero.Value == "0" {
			return "Round(0)"
		}
	}
	return ""
}
