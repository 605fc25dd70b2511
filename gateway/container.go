package main

import (
	"io/fs"
	"log/slog"
	"slices"
	"strings"
)

// warnOfHost tells an operator what a container cannot find out: the public addresses of the host around it, which
// visitors could reach from behind its firewall.
func warnOfHost(c Config, env []string, stat func(string) (fs.FileInfo, error), log *slog.Logger) {
	if len(c.HostAddresses) > 0 || bool(c.AllowOwnAddresses) || !inContainer(env, stat) {
		return
	}
	log.Warn("HOST_ADDRESSES is empty, and a container cannot see the public addresses of its host: " +
		"visitors may reach that host through this service")
}

// containerFiles are what Docker and Podman put into every container.
var containerFiles = []string{"/.dockerenv", "/run/.containerenv"}

// containerVariables are set by Kubernetes, and by systemd-nspawn, LXC and Podman.
var containerVariables = []string{"KUBERNETES_SERVICE_HOST=", "container="}

func inContainer(env []string, stat func(string) (fs.FileInfo, error)) bool {
	for _, name := range containerFiles {
		if _, err := stat(name); err == nil {
			return true
		}
	}
	return slices.ContainsFunc(env, func(line string) bool {
		return slices.ContainsFunc(containerVariables, func(name string) bool { return strings.HasPrefix(line, name) })
	})
}
