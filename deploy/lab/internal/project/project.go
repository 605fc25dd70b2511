// Package project finds the repository and its binaries, for the programs and tests of the lab.
package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Root returns the folder of go.work, at or above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not in the repository: there is no go.work at or above the working directory")
		}
		dir = parent
	}
}

// Binaries returns the paths of the gateway and the worker: those in LAB_GATEWAY and LAB_WORKER, or, where one is not
// set, those that make build makes.
func Binaries(ctx context.Context) (gateway, worker string, err error) {
	gateway, worker = os.Getenv("LAB_GATEWAY"), os.Getenv("LAB_WORKER")
	if gateway != "" && worker != "" {
		return gateway, worker, nil
	}
	root, err := Root()
	if err != nil {
		return "", "", err
	}
	build := exec.CommandContext(ctx, "make", "--no-print-directory", "build")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("make build: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return filepath.Join(root, "bin", "gateway"), filepath.Join(root, "bin", "worker"), nil
}
