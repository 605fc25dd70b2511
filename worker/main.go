// Command worker measures the way to public addresses with ICMP: traceroute, ping and packet loss, for the gateway that
// holds its bearer token. Everything is set by the environment (config.go).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"diagnostics/daemon"
	"diagnostics/daemon/files"
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
	command := daemon.Command{Name: "worker", Settings: settings.Of[Config](), Extra: "gateways",
		ExtraDoc: "print how many gateways use the running worker, which its /healthz reports, and exit"}
	task, env, err := command.Begin(args, env, stdout, stderr)
	if task == daemon.TaskNone {
		return err
	}
	if task == daemon.TaskHealthcheck || task == daemon.TaskExtra {
		config, err := settings.Parse[Config](settings.WithoutFiles(command.Settings, env))
		if err != nil {
			return err
		}
		header, err := daemon.CheckHealth(ctx, config.ListenAddr, workerapi.PathHealth, config.SpeaksTLS())
		if err == nil && task == daemon.TaskExtra {
			_, err = fmt.Fprintln(stdout, header.Get(workerapi.HeaderGateways))
		}
		return err
	}
	if task == daemon.TaskCheckConfig {
		return check(command, env, daemon.CheckLog(stdout))
	}
	config, err := ParseConfig(env)
	if err != nil {
		return err
	}
	log := config.OpenLog(stdout)
	defer log.Close()
	command.WarnOfResembling(env, log.Logger)
	config.WarnOfProfiles(config.MetricsListenAddr, log.Logger)
	return serve(ctx, config, settings.FileOf(env, "DIAGNOSTICS_WORKER_TOKEN"), log)
}

// check reads the settings and the files that they name, with the warnings of a start, but opens and serves nothing.
func check(command daemon.Command, env []string, log *slog.Logger) error {
	command.WarnOfResembling(env, log)
	config, err := ParseConfig(env)
	if err != nil {
		return err
	}
	config.WarnOfProfiles(config.MetricsListenAddr, log)
	_, err = newServerTLS(config, &files.Watcher{})
	return err
}
