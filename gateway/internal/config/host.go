package config

import (
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// WarnOfHost warns in a container without PUBLIC_DOMAIN, HOST_ADDRESSES and HOST_ADDRESSES_FILE: it cannot see the
// public addresses of the host around it, which clients could reach from behind its firewall.
func WarnOfHost(c Config, env []string, stat func(string) (fs.FileInfo, error), log *slog.Logger) {
	if c.PublicDomain != "" || len(c.HostAddresses) > 0 || c.HostAddressesFile != "" || bool(c.AllowOwnAddresses) ||
		!inContainer(env, stat) {
		return
	}
	log.Warn("neither PUBLIC_DOMAIN nor HOST_ADDRESSES is set, and a container cannot see the public addresses of its " +
		"host: visitors may reach that host through this service")
}

// OnLoopback reports whether the public listener is for this host only, as with `make run`: clients cannot reach the
// host's public addresses through it from outside.
func (c *Config) OnLoopback() bool {
	host, _, err := net.SplitHostPort(string(c.ListenAddr))
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
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

// What a process has open beside its connections: runtime, log, listeners, Redis, the worker. The run that
// has the most is a trace's, with a lookup of the name of each of thirty hops and eight of their networks at once.
const (
	filesOfProcess = 64
	FilesOfRun     = 40
)

// WarnOfFiles warns where the limit of open files is lower than what the settings allow.
func WarnOfFiles(c Config, log *slog.Logger) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return
	}
	if needed := filesNeeded(c); limit.Cur < needed {
		log.Warn("MAX_CONNECTIONS with MAX_IN_FLIGHT may need more files than this process may open: "+
			"raise the limit (ulimit -n, LimitNOFILE), or lower the settings", "limit", limit.Cur, "needed", needed)
	}
}

// filesNeeded returns how many files may be open with these settings. MAX_CONNECTIONS bounds each listener by itself,
// the public one and the one for other places. If connections have no limit, only the runs count.
func filesNeeded(c Config) uint64 {
	listeners := uint64(1)
	if c.PeerListenAddr != "" {
		listeners++
	}
	// #nosec G115 -- a setting that counts is from 0 to a billion
	return listeners*uint64(c.MaxConnections) + FilesOfRun*uint64(c.MaxInFlight) + filesOfProcess
}
