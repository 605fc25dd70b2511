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
	"diagnostics/gateway/internal/remote/places"
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
		Beside: []string{"DIAGNOSTICS_WORKER_SUBNET"}, // of docker-compose.yml
		Extra:  places.InitFlag, ExtraDoc: places.InitDoc, Probe: &probed}
	task, env, err := command.Begin(args, env, stdout, stderr)
	if task == daemon.TaskNone {
		return err
	}
	if task == daemon.TaskProbe {
		return daemon.Probe(ctx, probed, nil, stdout)
	}
	if task == daemon.TaskExtra {
		return places.Init(env, stdout)
	}
	if task == daemon.TaskCheckConfig {
		return check(command, env, daemon.CheckLog(stdout))
	}
	c, err := config.Parse(env)
	if err != nil {
		return err
	}
	if task == daemon.TaskHealthcheck {
		_, err := daemon.CheckHealth(ctx, c.ListenAddr, "/healthz", false)
		return err
	}
	log := c.OpenLog(stdout)
	defer log.Close()
	command.WarnOfResembling(env, log.Logger)
	warn(c, env, log.Logger)
	service, err := wire(c, env, log.Logger)
	if err != nil {
		return err
	}
	defer service.close()
	service.watchSecrets(env)
	metrics.Register(service.metrics.Registerer(), log.Dropped)
	metrics.Reloads(service.metrics.Registerer(), service.files)
	return serve(ctx, c, service, log.Logger)
}

// check reads the settings and builds every part, with the warnings of a start, but creates and serves nothing.
func check(command daemon.Command, env []string, log *slog.Logger) error {
	command.WarnOfResembling(env, log)
	c, err := config.Parse(env)
	if err != nil {
		return err
	}
	warn(c, env, log)
	s := newService()
	s.checks = true
	defer s.close()
	return s.build(c, env, log)
}

// warn warns of settings that do less than they seem to; building the parts warns of the rest.
func warn(c config.Config, env []string, log *slog.Logger) {
	c.WarnOfProfiles(c.MetricsListenAddr, log)
	c.WarnOfProxies(log)
	if !c.OnLoopback() {
		config.WarnOfHost(c, env, os.Stat, log)
	}
	config.WarnOfFiles(c, log)
}
