//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"diagnostics/lab"
	"diagnostics/lab/internal/golden"
)

var update = flag.Bool("update", false, "rewrite testdata/golden, to be read line by line before it is kept")

const goldenDir = "testdata/golden"

// asked is one request of a recording.
type asked struct {
	input   string // of the tool that the recording is named after
	options string // the same request's options, as JSON
	body    string // in place of input and options, as it is sent
	method  string // POST where empty
	path    string // the tool's where empty
	header  []string
	note    string
}

// recording is a file of answers, all of one server.
type recording struct {
	name string
	// env are settings of a gateway that this recording has for itself, beside those without limits; nil shares one.
	env []string
	// worker sends it to the worker in place of a gateway.
	worker bool
	// inTurn sends one request after the other, where each depends on those before.
	inTurn bool
	// short keeps only the status and the sentence. lines keeps only the conclusion, and requests that have one.
	short, lines bool
	// measured answers depend on single packets, of which a busy machine may lose one: see settled.
	measured bool
	asks     []asked
}

// The answers to a fixed set of requests equal those of testdata/golden, where ids, times and durations are replaced. A
// change of any answer is made on purpose, and `cmd/proof golden` shows it in the commit.
func TestGoldenAnswers(t *testing.T) {
	t.Parallel()
	// The description's typical requests use this name. It has one address, so that no race decides which is used.
	internet.Script("example.com", lab.Step{Records: []string{"@ 300 IN A " + internet.Site("fast").V4.String()}})
	recordings := allRecordings(t)
	holdNoOther(t, recordings)
	for _, r := range recordings {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			kept := r.kept(t)
			r.hold(t, kept, r.run(t, kept))
		})
	}
}

// allRecordings are one for each tool that the service describes, and those of the edge.
func allRecordings(t *testing.T) []recording {
	t.Helper()
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	var all []recording
	var slugs []string
	for _, tool := range d.Tools() {
		typical, err := json.Marshal(tool.Typical)
		if err != nil || tool.Typical == nil {
			t.Fatalf("the OpenAPI description of %s has no example named typical of its request (%v)", tool.Slug, err)
		}
		slugs = append(slugs, tool.Slug)
		r := goldenTools[tool.Slug]
		r.name = tool.Slug
		r.asks = append([]asked{{body: string(typical), note: "typical"}}, r.asks...)
		all = append(all, r)
	}
	for slug := range goldenTools {
		if !slices.Contains(slugs, slug) {
			t.Errorf("requests for %s, which the service does not describe", slug)
		}
	}
	return append(append(all, goldenPages(slugs), refusedTargets(t), tellingLines(all)), goldenEdge...)
}

// tellingLines are the first lines of all tools, which people read one below the other (cmd/proof lines).
func tellingLines(tools []recording) recording {
	// It has a separate gateway, because an answer from a cache may be judged differently.
	all := recording{name: "lines", lines: true, measured: true, env: []string{}}
	for _, r := range append(tools, moreLines...) {
		for _, a := range r.asks {
			if a.path == "" {
				a.path = "/api/tools/" + r.name
			}
			a.header = append(a.header, "Accept: application/x-ndjson")
			all.asks = append(all.asks, a)
		}
	}
	return all
}

// refusedTargets are the gateway's own cases of what must be refused.
func refusedTargets(t *testing.T) recording {
	t.Helper()
	var cases []struct{ Slug, Input, Expect string }
	readCases(t, &cases, "tools", "testdata", "targets.json")
	r := recording{name: "refused", short: true}
	for _, c := range cases {
		if c.Expect == "reject" {
			r.asks = append(r.asks, asked{path: "/api/tools/" + c.Slug, input: c.Input})
		}
	}
	return r
}

// holdNoOther finds recordings of requests that are no longer sent.
func holdNoOther(t *testing.T, recordings []recording) {
	t.Helper()
	files, err := os.ReadDir(goldenDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".txt")
		if slices.ContainsFunc(recordings, func(r recording) bool { return r.name == name }) {
			continue
		}
		if !*update {
			t.Errorf("%s records what is no longer asked; `cmd/proof golden` removes it", f.Name())
		} else if err := os.Remove(filepath.Join(goldenDir, f.Name())); err != nil {
			t.Error(err)
		}
	}
}

// sharedGolden is the gateway of all recordings without settings of their own: its caches and limits are not those of
// the other tests.
var sharedGolden = sync.OnceValues(func() (*lab.Server, error) {
	return service.StartGateway(context.Background(), "gateway-golden", unlimited...)
})

func (r recording) server(t *testing.T) *lab.Server {
	t.Helper()
	var server *lab.Server
	var err error
	switch {
	case r.worker:
		server = service.Worker
	case r.env == nil:
		server, err = sharedGolden()
	default:
		env := append(slices.Clone(unlimited), r.env...)
		server, err = service.StartGateway(t.Context(), "gateway-golden-"+r.name, env...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// run sends all requests, and returns the record in the order of the requests.
func (r recording) run(t *testing.T, kept map[string]string) []golden.Entry {
	t.Helper()
	server := r.server(t)
	entries := make([]golden.Entry, len(r.asks))
	errs := make([]error, len(r.asks))
	var wg sync.WaitGroup
	for i, a := range r.asks {
		ask := func() { entries[i], errs[i] = r.entry(t.Context(), server, a, kept) }
		if r.inTurn {
			ask()
		} else {
			wg.Go(ask)
		}
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(entries, func(e golden.Entry) bool { return e.Text == "" })
}

func (r recording) path() string { return filepath.Join(goldenDir, r.name+".txt") }

// kept is what was recorded, by request; nothing where it is recorded now.
func (r recording) kept(t *testing.T) map[string]string {
	t.Helper()
	if *update {
		return nil
	}
	text, err := os.ReadFile(r.path())
	if err != nil {
		t.Fatalf("%v: `cmd/proof golden` records it, to be read before it is kept", err)
	}
	kept := map[string]string{}
	for _, e := range golden.Split(string(text)) {
		kept[e.Title] = e.Text
	}
	return kept
}

// hold compares the answers with those that are kept, or keeps them.
func (r recording) hold(t *testing.T, kept map[string]string, entries []golden.Entry) {
	t.Helper()
	titles := map[string]bool{}
	for _, e := range entries {
		if titles[e.Title] {
			t.Errorf("asked twice; give each a note of its own: %s", e.Title)
		}
		titles[e.Title] = true
	}
	if *update {
		text := []byte(golden.Join(entries))
		if err := errors.Join(os.MkdirAll(goldenDir, 0o755), os.WriteFile(r.path(), text, 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, e := range entries {
		want, known := kept[e.Title]
		switch {
		case !known:
			t.Errorf("%s does not have\n%s\n`cmd/proof golden` records it.", r.path(), e.Title)
		case want != e.Text:
			t.Errorf("%s\nis answered in another way (- as recorded, + now):\n%s\n"+
				"Where that is meant, `cmd/proof golden` records it.", e.Title, golden.Diff(want, e.Text))
		}
	}
	for title := range kept {
		if !titles[title] {
			t.Errorf("%s has\n%s\nwhich is no longer asked; `cmd/proof golden` removes it.", r.path(), title)
		}
	}
}
