package places

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"diagnostics/daemon/daemontest"
)

// The key of pseudonyms is created once, and replicas agree on it.
func TestKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	inFile := func() string {
		k, err := KeyFile(path, false)
		if err != nil {
			t.Fatal(err)
		}
		return string(k.Get(t.Context()))
	}
	if one, two := inFile(), inFile(); one != two || len(one) < minKey {
		t.Errorf("%q, then %q", one, two)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	for name, short := range map[string]string{
		"short": daemontest.File(t, t.TempDir(), "s", []byte("x")), "no folder": filepath.Join(t.TempDir(), "none", "key"),
	} {
		for _, checkOnly := range []bool{false, true} {
			if _, err := KeyFile(short, checkOnly); err == nil {
				t.Errorf("%s: taken", name)
			}
		}
	}
	log := slog.New(slog.DiscardHandler)
	var stored []byte
	share := func(_ context.Context, fresh []byte) ([]byte, error) {
		if stored == nil {
			stored = fresh
		}
		return stored, nil
	}
	get := func(s Sharer) string { return string(NewKey(s, log).Get(t.Context())) }
	if one, two := get(share), get(share); one != two || len(one) < minKey {
		t.Errorf("shared: %q, %q", one, two)
	}
	down := func(context.Context, []byte) ([]byte, error) { return nil, errors.New("down") }
	if one, two, three := get(nil), get(nil), get(down); one == two || three == one || len(three) < minKey {
		t.Errorf("not shared: %q, %q, %q", one, two, three)
	}
}
