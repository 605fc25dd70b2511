//go:build compose

package compose

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The same commit gives the same bytes, in this tree and its cache as in an image, which has neither.
func TestImagesHoldWhatMakeBuildMakes(t *testing.T) {
	for _, service := range []string{"gateway", "worker"} {
		id, err := engine.container(service)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(t.TempDir(), service)
		if _, err := output("docker", "cp", id+":/"+service, copied); err != nil {
			t.Fatal(err)
		}
		inImage, err := os.ReadFile(copied)
		if err != nil {
			t.Fatal(err)
		}
		made := filepath.Join(engine.root, "bin", service)
		built, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(inImage, built) {
			for _, path := range []string{copied, made} {
				reported, _ := output("go", "version", "-m", path)
				t.Log(reported)
			}
			t.Errorf("%s: the image has another binary than make build", service)
		}
	}
}

// An image's labels say what it is, of which version and of which commit; the start-up line and -version are the
// binary's.
func TestLabels(t *testing.T) {
	for _, service := range []string{"gateway", "worker"} {
		out, err := output("docker", "image", "inspect", "--format", "{{json .Config.Labels}}", engine.image(service))
		if err != nil {
			t.Fatal(err)
		}
		labels, err := read[map[string]string]([]byte(out))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"title": "Network diagnostics " + service, "version": engine.env["VERSION"], "revision": engine.env["COMMIT"],
		} {
			if got := labels["org.opencontainers.image."+name]; got != want {
				t.Errorf("the image of the %s has the %s %q, want %q", service, name, got, want)
			}
		}
		if labels["org.opencontainers.image.description"] == "" {
			t.Errorf("the image of the %s has no description", service)
		}
		version := execute(t, service, "/"+service, "-version")
		if want := service + " " + engine.env["VERSION"] + " (commit " + engine.env["COMMIT"] + ")"; version != want {
			t.Errorf("%s, want %s", version, want)
		}
	}
}

// make up labels the images with their commit.
func TestMakeUpNamesTheCommit(t *testing.T) {
	cmd := exec.Command("make", "--dry-run", "up")
	cmd.Dir = engine.root
	out, err := cmd.CombinedOutput()
	if want := "COMMIT=" + engine.env["COMMIT"] + " "; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("no %s: %v\n%s", want, err, out)
	}
}

// What an operator pays: printed, and bounded so that a jump fails.
func TestSizesAtRest(t *testing.T) {
	t.Logf("start, images built, until ready with Redis and worker: %v", engine.started.Round(100*time.Millisecond))
	if engine.started > 30*time.Second {
		t.Error("the start took more than 30 s")
	}
	for _, service := range []string{"gateway", "worker"} {
		out, err := output("docker", "image", "inspect", "--format", "{{.Size}}", engine.image(service))
		if err != nil {
			t.Fatal(err)
		}
		size, err := strconv.Atoi(out)
		if err != nil || size > 50_000_000 {
			t.Errorf("%s: %s bytes, want at most 50 MB (%v)", service, out, err)
		}
		t.Logf("image of the %s: %.1f MB", service, float64(size)/1e6)
	}
	for _, service := range []string{"gateway", "worker", "redis"} {
		id, err := engine.container(service)
		if err != nil {
			t.Fatal(err)
		}
		out, err := output("docker", "stats", "--no-stream", "--format", "{{.MemUsage}}", id)
		if err != nil {
			t.Fatal(err)
		}
		used, _, _ := strings.Cut(out, " / ")
		t.Logf("memory of the %s at rest: %s", service, used)
		mib, err := strconv.ParseFloat(strings.TrimSuffix(used, "MiB"), 64)
		if !strings.HasSuffix(used, "KiB") && (err != nil || mib > 64) {
			t.Errorf("the %s holds %s at rest, want at most 64 MiB", service, used)
		}
	}
}
