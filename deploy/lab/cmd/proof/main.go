// Command proof runs what takes longer than make test and make e2e, and what writes recorded files anew:
//
//	go run ./deploy/lab/cmd/proof                 lists the proofs
//	go run ./deploy/lab/cmd/proof soak -for 2m    runs one; further arguments go to the command that it runs
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"diagnostics/lab/internal/project"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		for _, p := range proofs {
			fmt.Fprintf(out, "  %-12s %s\n", p.name, p.shows)
		}
		return nil
	}
	i := slices.IndexFunc(proofs, func(p proof) bool { return p.name == args[0] })
	if i < 0 {
		return fmt.Errorf("unknown proof %q; without a name they are listed", args[0])
	}
	root, err := project.Root()
	if err != nil {
		return err
	}
	bash := append([]string{"-euo", "pipefail", "-c", proofs[i].script, args[0]}, args[1:]...)
	cmd := exec.CommandContext(ctx, "bash", bash...) // #nosec G702 -- a developer's own arguments
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = root, os.Stdin, out, os.Stderr
	cmd.Env = append(os.Environ(), "LAB_PROOF=1", "LAB_AXE="+filepath.Join(root, axe))
	// The children clean up after SIGINT, which a terminal sends to the whole group already.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	if err := cmd.Run(); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", args[0], err), ctx.Err())
	}
	return nil
}
