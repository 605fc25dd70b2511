package main

import (
	"os"
	"regexp"
	"testing"
	"time"

	"diagnostics/gateway/internal/config"
)

// Whoever stops a service waits until it has ended by itself, and so does whoever stops the proxy before it: the proxy
// goes first, with the runs that pass through it.
func TestWhatStopsAServiceWaits(t *testing.T) {
	t.Parallel()
	c, err := config.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	own := time.Duration(c.ShutdownDelay) + time.Duration(c.ShutdownTimeout)
	for path, setting := range map[string]struct {
		pattern string
		times   int
	}{
		"../docker-compose.yml":                         {`(?m)^    stop_grace_period: (\d+)s$`, 2},
		"../deploy/compose.tls.yml":                     {`(?m)^    stop_grace_period: (\d+)s$`, 1},
		"../deploy/systemd/diagnostics-gateway.service": {`(?m)^TimeoutStopSec=(\d+)$`, 1},
		"../deploy/systemd/diagnostics-worker.service":  {`(?m)^TimeoutStopSec=(\d+)$`, 1},
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(setting.pattern).FindAllStringSubmatch(string(text), -1)
		if len(found) != setting.times {
			t.Errorf("%s says %d times how long to wait, want %d", path, len(found), setting.times)
		}
		for _, said := range found {
			if wait, err := time.ParseDuration(said[1] + "s"); err != nil || wait < own+5*time.Second {
				t.Errorf("%s waits %s s, and a service needs up to %v", path, said[1], own)
			}
		}
	}
}
