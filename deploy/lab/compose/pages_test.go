//go:build compose

package compose

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The pages tell operators what to type, and it works: cmd/docs types it. The commands restart and replace services,
// which takes two minutes: `make proof-compose` runs this test, `make compose-test` leaves it out.
func TestCommandsOfThePages(t *testing.T) {
	t.Cleanup(func() { up(t, engine, "redis", "worker", "gateway") })
	s := engine.with("GATEWAY_PUBLISH=" + hostAddress + ":18080")
	up(t, s, "gateway")
	cmd := exec.Command("go", "run", "./cmd/docs")
	cmd.Dir = filepath.Join(engine.root, "deploy", "lab")
	cmd.Env = append(os.Environ(), "COMPOSE_FILE="+strings.Join(s.files, ":"))
	for name, value := range s.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
		return
	}
	t.Logf("%s", out)
}
