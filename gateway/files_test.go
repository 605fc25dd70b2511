package main

import (
	"strings"
	"testing"
)

func TestTooFewFiles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		connections string
		limit       uint64
		warns       bool
	}{
		{"as many as may be needed", "8192", 8192 + 512*filesOfRun + filesOfProcess, false},
		{"one fewer", "8192", 8192 + 512*filesOfRun + filesOfProcess - 1, true},
		{"without a limit of connections the runs count", "0", 512*filesOfRun + filesOfProcess, false},
		{"without a limit of connections, one fewer", "0", 512*filesOfRun + filesOfProcess - 1, true},
		{"no limit of files", "1000000000", 1<<64 - 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := ParseConfig([]string{"MAX_CONNECTIONS=" + tt.connections})
			if err != nil {
				t.Fatal(err)
			}
			warning := tooFewFiles(c, tt.limit)
			if (warning != "") != tt.warns {
				t.Errorf("warning %q", warning)
			}
			if tt.warns && (!strings.Contains(warning, "MAX_CONNECTIONS") || !strings.Contains(warning, "MAX_IN_FLIGHT")) {
				t.Errorf("%q does not name both settings", warning)
			}
		})
	}
}
