package archtest

import (
	"go/ast"
	"path/filepath"
	"strings"
	"testing"
)

// wallReadings make a number of a moment by the wall clock alone, or drop its monotonic reading (package time,
// "Monotonic Clocks"), by how many arguments they take. What is counted so jumps when the host's clock is set: a limit
// that locks its client out for an hour, a reader who is cut off.
var wallReadings = map[string]int{
	"Unix": 0, "UnixMilli": 0, "UnixMicro": 0, "UnixNano": 0,
	"UTC": 0, "Local": 0, "In": 1, "Round": 1, "Truncate": 1, "AddDate": 3,
}

// wallUses are the permitted uses, by file: they record a moment, not a duration, or call a method of another type that
// has the same name.
var wallUses = map[string]string{
	gw + "/internal/httpapi/audit/audit.go":             "when a run began, for people",
	gw + "/internal/cache/envelope.go":                  "when a value was fetched, for other processes",
	gw + "/internal/cache/typed.go":                     "when a value was fetched, as other processes read it",
	gw + "/internal/analyze/certs/certtest/certtest.go": "a certificate's validity is of the wall clock",
	gw + "/internal/egress/egresstest/resolver.go":      "Truncate of a DNS message",
	gw + "/internal/egress/egresstest/zones.go":         "Truncate of a DNS message",
	gw + "/internal/httpapi/charges.go":                 "X-RateLimit-Reset is a moment",
	gw + "/internal/httpapi/failures.go":                "when a run failed, for people",
	gw + "/internal/httpapi/samples.go":                 "the time of this server, for people",
	gw + "/internal/providers/rdap/rdap.go":             "when an answer was fetched, for people",
	gw + "/internal/providers/registry/gate.go":         "until when a registry asks to wait, for other processes",
	gw + "/internal/providers/registry/moment.go":       "a registry's dates",
	gw + "/internal/providers/whois/whois.go":           "when an answer was fetched, for people",
	gw + "/internal/analyze/dnssec/dates.go":            "a signature's dates",
	gw + "/internal/analyze/sitemap/check.go":           "a sitemap's dates",
	gw + "/internal/tools/internal/format/format.go":    "a moment as text",
	gw + "/internal/tool/finding/catalogue.go":          "a day of a sentence; Round of a duration",
	gw + "/internal/tools/sslchecker/certificate.go":    "a certificate's validity is of the wall clock",
	gw + "/internal/tools/sslchecker/issues.go":         "a certificate's validity is of the wall clock",
	gw + "/internal/workerclient/clean.go":              "when a measurement was made, for people",
	"diagnostics/worker/internal/icmp/control.go":       "the kernel's time of arrival; a difference that a set clock explains is rejected",
	"diagnostics/worker/internal/probe/probe.go":        "when a measurement was made, for people",
	"diagnostics/worker/internal/probe/series.go":       "Round of a duration",
	"diagnostics/daemon/files/server.go":                "a certificate's validity is of the wall clock",
	"diagnostics/daemon/probe.go":                       "a certificate's validity is of the wall clock",
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
				file, _, _ := strings.Cut(use, ":")
				file = p.ImportPath + "/" + file
				found[file] = true
				if wallUses[file] == "" {
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

// The fixture has one of each.
func TestWallReadings(t *testing.T) {
	t.Parallel()
	if found := inspect(t, "testdata/calls", []string{"clock.go"}, wallReading); len(found) != len(wallReadings) {
		t.Errorf("found %q", found)
	}
}

// wallReading names a call of one of the wallReadings.
func wallReading(n ast.Node, imports map[string]string) string {
	call, is := n.(*ast.CallExpr)
	if !is || selected(call.Fun, imports) != "" {
		return ""
	}
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	name := method.Sel.Name
	if arguments, is := wallReadings[name]; is && len(call.Args) == arguments {
		return name
	}
	return ""
}
