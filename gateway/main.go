// Command gateway is the public side of the network diagnostics service: it serves the pages and runs one diagnostic a
// request. Everything is set by the environment (package config).
package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"diagnostics/daemon"
	"diagnostics/daemon/metrics"
	"diagnostics/daemon/settings"
	"diagnostics/gateway/internal/config"
)

func main() {
	if daemon.Main("gateway", run) != nil {
		os.Exit(1)
	}
}

// run is the whole program: it ends when ctx does and the last run has finished. The log goes to stdout.
func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) error {
	var probed string
	command := daemon.Command{Name: "gateway", Settings: settings.Of[config.Config](),
		Extra: initPlace, ExtraDoc: initDoc, Probe: &probed}
	task, env, err := command.Begin(args, env, stdout, stderr)
	if task == daemon.TaskNone {
		return err
	}
	if task == daemon.TaskProbe {
		return daemon.Probe(ctx, probed, nil, stdout)
	}
	if task == daemon.TaskExtra {
		return makePlace(env, stdout)
	}
	c, err := config.Parse(env)
	if err != nil {
		return err
	}
	if task == daemon.TaskHealthcheck {
		return daemon.CheckHealth(ctx, c.ListenAddr, "/healthz", false)
	}
	if task == daemon.TaskCheckConfig {
		service, err := wire(c, env, slog.New(slog.DiscardHandler))
		if err == nil {
			service.close()
		}
		return err
	}
	log := c.OpenLog(stdout)
	defer log.Close()
	service, err := wire(c, env, log.Logger)
	if err != nil {
		return err
	}
	defer service.close()
	service.watchSecrets(env)
	metrics.Register(service.metrics.Registerer(), log.Dropped)
	metrics.Reloads(service.metrics.Registerer(), service.files)
	if !c.OnLoopback() {
		config.WarnOfHost(c, env, os.Stat, log.Logger)
	}
	return serve(ctx, c, service, log.Logger)
}
