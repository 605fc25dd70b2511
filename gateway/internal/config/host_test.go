package config

import (
	"bytes"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"diagnostics/daemon/settings"
)

func TestAContainerIsToldOfItsHost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings, env []string
		file          string
		warns         bool
	}{
		"not in one":           {nil, []string{"PATH=/bin", "containers=3"}, "", false},
		"Docker":               {nil, nil, "/.dockerenv", true},
		"Podman":               {nil, nil, "/run/.containerenv", true},
		"Kubernetes":           {nil, []string{"KUBERNETES_SERVICE_HOST=10.96.0.1"}, "", true},
		"LXC":                  {nil, []string{"container=lxc"}, "", true},
		"another file":         {nil, nil, "/etc/passwd", false},
		"addresses are listed": {[]string{"HOST_ADDRESSES=192.0.2.1"}, nil, "/.dockerenv", false},
		"they may be reached":  {[]string{"ALLOW_OWN_ADDRESSES=true"}, nil, "/.dockerenv", false},
	} {
		config, err := Parse(test.settings)
		if err != nil {
			t.Fatal(err)
		}
		stat := func(file string) (fs.FileInfo, error) {
			if file == test.file {
				return nil, nil
			}
			return nil, fs.ErrNotExist
		}
		var log bytes.Buffer
		WarnOfHost(config, test.env, stat, slog.New(slog.NewTextHandler(&log, nil)))
		if warns := strings.Contains(log.String(), "HOST_ADDRESSES"); warns != test.warns ||
			strings.Count(log.String(), "\n") > 1 {
			t.Errorf("%s: %q", name, log.String())
		}
	}
}

func TestFilesNeeded(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]uint64{
		"":                                    8192 + 512*FilesOfRun + filesOfProcess,
		"MAX_CONNECTIONS=0":                   512*FilesOfRun + filesOfProcess,
		"MAX_CONNECTIONS=100 MAX_IN_FLIGHT=3": 100 + 3*FilesOfRun + filesOfProcess,
	} {
		c, err := Parse(strings.Fields(env))
		if err != nil {
			t.Fatal(err)
		}
		if got := filesNeeded(c); got != want {
			t.Errorf("%s: %d, want %d", env, got, want)
		}
	}
}

// The limit of this process, on both sides.
func TestWarnOfFiles(t *testing.T) {
	t.Parallel()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur > 1<<30 {
		limit.Cur = 1 << 20 // without a limit there is no other side
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	enough := Config{}
	enough.MaxInFlight = 1
	enough.MaxConnections += settings.Count(limit.Cur - FilesOfRun - filesOfProcess)
	tooMany := enough
	tooMany.MaxConnections++
	for _, tt := range []struct {
		name   string
		config Config
		warns  bool
	}{{"as many as there are", enough, false}, {"one more", tooMany, true}} {
		var log bytes.Buffer
		WarnOfFiles(tt.config, slog.New(slog.NewTextHandler(&log, nil)))
		if warned := strings.Contains(log.String(), "MAX_CONNECTIONS"); warned != tt.warns {
			t.Errorf("%s: %q", tt.name, log.String())
		}
	}
}
