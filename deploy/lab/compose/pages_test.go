//go:build compose

package compose

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"diagnostics/lab/internal/docs"
)

// TestCommandsOfThePages runs the commands that the documentation gives to operators. They restart and replace
// services, and rotate secrets, which takes minutes: `cmd/proof compose` runs this test, `cmd/proof compose-test`
// skips it.
func TestCommandsOfThePages(t *testing.T) {
	t.Cleanup(func() { up(t, engine, "redis", "worker", "gateway") })
	s := engine.with("GATEWAY_PUBLISH=" + hostAddress + ":18080")
	up(t, s, "gateway")
	cmd := exec.Command("go", "run", "./cmd/docs")
	cmd.Dir = filepath.Join(engine.root, "deploy", "lab")
	cmd.Env = append(append(os.Environ(), s.environment()...), "DOCS_FILES="+strings.Join(s.files, ":"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
		return
	}
	t.Logf("%s", out)
}

// asThePageSays runs the commands for compose among which one is, as docs/operations.md has them.
func asThePageSays(t *testing.T, command string) {
	t.Helper()
	blocks, err := docs.Pages(engine.root)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(blocks, func(b docs.Block) bool {
		return b.File == "docs/operations.md" && slices.Contains(b.Groups, docs.Compose) && strings.Contains(b.Text, command)
	})
	if i < 0 {
		t.Fatalf("docs/operations.md has no %s", command)
	}
	// A test that cleans up has no context of its own any more.
	place := docs.PlaceOfCompose(engine.ctx, engine.root)
	place.Env = append(engine.environment(), "COMPOSE_FILE="+strings.Join(engine.files, ":"))
	if _, err := place.Run(engine.ctx, docs.Script{Name: blocks[i].Where(), Text: blocks[i].Text}); err != nil {
		t.Fatal(err)
	}
}
