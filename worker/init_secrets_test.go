package main

import (
	"io"
	"path/filepath"
	"testing"
)

// A worker on a host of its own makes its token by itself, one that it then starts with.
func TestInitSecrets(t *testing.T) {
	t.Parallel()
	env := []string{"DIAGNOSTICS_WORKER_TOKEN_FILE=" + filepath.Join(t.TempDir(), "token")}
	if _, err := ParseConfig(env); err == nil {
		t.Fatal("a token that is not there was taken")
	}
	if err := run(t.Context(), []string{"-init-secrets"}, env, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	config, err := ParseConfig(env)
	if err != nil || len(config.Tokens) != 1 {
		t.Errorf("%d tokens, %v", len(config.Tokens), err)
	}
}
