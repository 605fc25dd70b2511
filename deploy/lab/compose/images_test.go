//go:build compose

package compose

import (
	"bytes"
	"os"
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
				told, _ := output("go", "version", "-m", path)
				t.Log(told)
			}
			t.Errorf("%s: the image has another binary than make build", service)
		}
	}
}

// What an operator pays: printed, and bounded so that nobody misses a jump.
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
	}
}
