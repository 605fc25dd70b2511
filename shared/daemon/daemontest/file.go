package daemontest

import (
	"os"
	"path/filepath"
	"testing"
)

// File writes a file and gives its path.
func File(t testing.TB, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
