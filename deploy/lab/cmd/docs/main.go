// Command docs runs the pages' commands for docker compose, against a running project:
//
//	COMPOSE_PROJECT_NAME=… GATEWAY_PUBLISH=127.0.0.1:18080 DOCS_FILES=docker-compose.yml:… go run ./cmd/docs
//
// The commands run in a copy of the tree, whose .env they may change: it names the files of the project, as the pages
// have operators do. They restart and replace services of the project, rotate its secrets, empty its Redis, and leave
// it running.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"diagnostics/lab/internal/docs"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	project, publish := os.Getenv("COMPOSE_PROJECT_NAME"), os.Getenv("GATEWAY_PUBLISH")
	if project == "" || publish == "" {
		return errors.New("name the running project and its address: COMPOSE_PROJECT_NAME, GATEWAY_PUBLISH")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	blocks, err := docs.Pages(root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "docs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := copyTree(ctx, root, dir); err != nil {
		return err
	}
	if err := nameFiles(dir, os.Getenv("DOCS_FILES")); err != nil {
		return err
	}
	place := docs.PlaceOfCompose(ctx, dir)
	place.Instead = strings.NewReplacer("127.0.0.1:8080", publish, ":local ", ":"+version()+" ",
		"/var/log/diagnostics", filepath.Join(dir, "audit"))
	for _, s := range docs.Scripts(blocks, docs.Compose) {
		begin := time.Now()
		out, err := place.Run(ctx, s)
		if err != nil {
			return err
		}
		fmt.Printf("docs: the commands of %s: ok, %.0f s\n", s.Name, time.Since(begin).Seconds())
		if os.Getenv("DOCS_VERBOSE") != "" {
			fmt.Println(out)
		}
	}
	return nil
}

// nameFiles adds the project's files to the .env of a folder; "" is docker-compose.yml.
func nameFiles(dir, files string) error {
	if files == "" {
		return nil
	}
	env, err := os.OpenFile(filepath.Join(dir, ".env"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env, "COMPOSE_FILE=%s\n", files)
	return errors.Join(err, env.Close())
}

// version is the tag of the project's images.
func version() string { return cmp.Or(os.Getenv("VERSION"), "local") }

// copyTree copies what git tracks, and an .env that is there.
func copyTree(ctx context.Context, root, dir string) error {
	copying := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c",
		`git ls-files -z --cached --others --exclude-standard |
			tar --null --files-from - --ignore-failed-read -cf - | tar -xf - -C "$1"
		if [ -e .env ]; then cp .env "$1"; fi`, "copy", dir)
	copying.Dir, copying.Stderr = root, os.Stderr
	if err := copying.Run(); err != nil {
		return fmt.Errorf("copy the tree: %w", err)
	}
	return nil
}
