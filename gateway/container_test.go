package main

import (
	"bytes"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
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
		config, err := ParseConfig(test.settings)
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
		warnOfHost(config, test.env, stat, slog.New(slog.NewTextHandler(&log, nil)))
		if warns := strings.Contains(log.String(), "HOST_ADDRESSES"); warns != test.warns ||
			strings.Count(log.String(), "\n") > 1 {
			t.Errorf("%s: %q", name, log.String())
		}
	}
}
