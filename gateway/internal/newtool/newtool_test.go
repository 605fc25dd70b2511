package main

import (
	"bytes"
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const checkout = "../../.."

// TestTheSkeletonIsATool builds and tests what would be written, without writing it: the files are laid over the
// checkout.
func TestTheSkeletonIsATool(t *testing.T) {
	t.Parallel()
	made, err := plan(os.DirFS(checkout), "skeleton-under-test")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	copies := t.TempDir()
	if err := write(copies, made); err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, f := range made {
		if path.Ext(f.name) == ".go" {
			if formatted, err := format.Source(f.content); err != nil || !bytes.Equal(formatted, f.content) {
				t.Errorf("%s is not formatted: %v", f.name, err)
			}
		}
		replace[filepath.Join(root, f.name)] = filepath.Join(copies, f.name)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	description := filepath.Join(copies, "overlay.json")
	if err := os.WriteFile(description, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	// The tool's own tests, and the gateway's that every part of every tool is there.
	for pkg, run := range map[string]string{
		"./internal/tools/skeletonundertest": "TestAddresses|TestRefusals",
		".":                                  "TestThePromisedToolsAreThere",
	} {
		t.Run(pkg, func(t *testing.T) {
			t.Parallel()
			binary := filepath.Join(t.TempDir(), "skeleton.test")
			// Compiled and run apart: go test changes into the package's folder, which is not there.
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", binary,
				"-race="+strconv.FormatBool(hasRaceDetector()), "-overlay", description, pkg)
			build.Dir = filepath.Join(root, "gateway")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			test := exec.CommandContext(t.Context(), binary, "-test.v", "-test.run", run)
			test.Dir = t.TempDir()
			out, err := test.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: "+strings.Split(run, "|")[0]) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// hasRaceDetector tells how this test was built. What it builds is built alike: go has most of that compiled by then.
func hasRaceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

func TestNames(t *testing.T) {
	t.Parallel()
	for slug, want := range map[string]names{
		"ping":        {"ping", "ping", "Ping", "Ping"},
		"cname-chain": {"cname-chain", "cnamechain", "CnameChain", "Cname chain"},
		"ipv6-test-2": {"ipv6-test-2", "ipv6test2", "Ipv6Test2", "Ipv6 test 2"},
	} {
		if got, err := namesOf(slug); err != nil || got != want {
			t.Errorf("%s: %+v, %v", slug, got, err)
		}
	}
	for _, slug := range []string{"", "Ping", "a_b", "-a", "a-", "a--b", "1st", "../x", "go", "a b"} {
		if _, err := namesOf(slug); err == nil || !strings.Contains(err.Error(), "SLUG") {
			t.Errorf("%q: %v", slug, err)
		}
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	registry := "package tools\n\nimport (\n\t\"diagnostics/gateway/internal/workerclient\"\n)\n" +
		"func All(d Deps) []tool.Tool {\n\treturn []tool.Tool{\n\t}\n}\n"
	tree := func(change func(fstest.MapFS)) fstest.MapFS {
		files := fstest.MapFS{
			registryFile:  {Data: []byte(registry)},
			catalogueFile: {Data: []byte("package web\n\nvar catalogue = []group{\n\t{\"A\", []string{\n\t}},\n}\n")},
			boundsFile: {Data: []byte("package main\n\nvar worstAnswers = map[string]worst{\n" +
				"}\n\n// Every tool keeps to the bound\n")},
		}
		change(files)
		return files
	}
	made, err := plan(tree(func(fstest.MapFS) {}), "toy-lookup")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range made {
		got = append(got, f.name)
	}
	want := []string{
		"gateway/web/assets/tools/toy-lookup/icon.svg", "gateway/web/assets/tools/toy-lookup/page.json",
		"gateway/web/assets/tools/toy-lookup/verdict.js", "gateway/web/assets/tools/toy-lookup/view.js",
		"gateway/internal/tools/toylookup/main_test.go",
		"gateway/internal/tools/toylookup/openapi.yaml", "gateway/internal/tools/toylookup/toylookup.go",
		"gateway/internal/tools/toylookup/toylookup_test.go", registryFile, catalogueFile, boundsFile,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, slug := range []string{"worker-client", "internal", "vendor", "d", "tools"} {
		if _, err := plan(tree(func(fstest.MapFS) {}), slug); err == nil || !strings.Contains(err.Error(), "another use") {
			t.Errorf("%s: %v", slug, err)
		}
	}
	for name, change := range map[string]func(fstest.MapFS){
		"tools/toylookup is there already":         func(f fstest.MapFS) { f["gateway/internal/tools/toylookup/x.go"] = &fstest.MapFile{} },
		"assets/tools/toy-lookup is there already": func(f fstest.MapFS) { f["gateway/web/assets/tools/toy-lookup/x.js"] = &fstest.MapFile{} },
		"all.go: there is no":                      func(f fstest.MapFS) { f[registryFile] = &fstest.MapFile{Data: []byte("package tools\n")} },
		"catalogue.go":                             func(f fstest.MapFS) { delete(f, catalogueFile) },
		"bounds_test.go: there is no":              func(f fstest.MapFS) { f[boundsFile] = &fstest.MapFile{Data: []byte("package main\n")} },
	} {
		if _, err := plan(tree(change), "toy-lookup"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
