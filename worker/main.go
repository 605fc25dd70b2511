// Command worker measures the way to public addresses with ICMP: traceroute, ping and packet loss, for the gateway that
// holds its bearer token. Everything is set by the environment (config.go).
package main

import (
	"context"
	"errors"
	"io"
	"os"

	"diagnostics/daemon"
	"diagnostics/daemon/settings"
	"diagnostics/shared/workerapi"
)

// Exit statuses. exitNoRights is for deploy/run.sh: only the right to open sockets is missing; it is EX_NOPERM of
// sysexits.h.
const (
	exitFailure  = 1
	exitNoRights = 77
)

func main() {
	err := daemon.Main("worker", run)
	var rights *rightsError
	switch {
	case errors.As(err, &rights):
		os.Exit(exitNoRights)
	case err != nil:
		os.Exit(exitFailure)
	}
}

// run is the whole program: it ends when ctx does and the last job has finished. The log goes to stdout.
func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) error {
	command := daemon.Command{Name: "worker", Settings: settings.Of[Config]()}
	task, env, err := command.Begin(args, env, stdout, stderr)
	if task == daemon.TaskNone {
		return err
	}
	if task == daemon.TaskHealthcheck {
		config, err := settings.Parse[Config](env)
		if err != nil {
			return err
		}
		return daemon.CheckHealth(ctx, config.ListenAddr, workerapi.PathHealth, config.SpeaksTLS())
	}
	config, err := ParseConfig(env)
	if err != nil {
		return err
	}
	if task == daemon.TaskCheckConfig {
		return nil
	}
	log := config.OpenLog(stdout)
	defer log.Close()
	return serve(ctx, config, settings.FileOf(env, "DIAGNOSTICS_WORKER_TOKEN"), log)
}
