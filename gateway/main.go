// Command gateway is the public side of the network diagnostics service: it serves the pages and runs one diagnostic a
// request. Everything is set by the environment (config.go).
package main

import (
	"context"
	"io"
	"os"

	"diagnostics/daemon"
	"diagnostics/daemon/metrics"
	"diagnostics/daemon/settings"
)

func main() {
	if daemon.Main("gateway", run) != nil {
		os.Exit(1)
	}
}

// run is the whole program: it ends when ctx does and the last run has finished. The log goes to stdout.
func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) error {
	command := daemon.Command{Name: "gateway", Settings: settings.Of[Config]()}
	task, env, err := command.Begin(args, env, stdout, stderr)
	if task == daemon.TaskNone {
		return err
	}
	config, err := ParseConfig(env)
	if err != nil {
		return err
	}
	if task == daemon.TaskHealthcheck {
		return daemon.CheckHealth(ctx, config.ListenAddr, "/healthz", false)
	}
	log := config.OpenLog(stdout)
	defer log.Close()
	service, err := wire(config, log.Logger)
	if err != nil {
		return err
	}
	defer service.close()
	service.watchSecrets(env)
	metrics.Register(service.metrics.Registerer(), log.Dropped)
	metrics.Reloads(service.metrics.Registerer(), service.files)
	log.WarnOfMisspellings(command.Settings, env)
	warnOfHost(config, env, os.Stat, log.Logger)
	return serve(ctx, config, service, log.Logger)
}
