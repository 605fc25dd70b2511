package main

import (
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// An alert on a lost Redis must not wait for the first visitor of the morning: whoever reads the metrics learns of it.
func TestTheMetricsOfAnIdleGatewayTellOfALostRedis(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	s := start(t, "RATE_LIMIT_REDIS_URL=redis://"+server.Addr())
	tells := func(value string) bool {
		_, text := s.get(t, s.metrics+"/metrics")
		return strings.Contains(text, "\ndiagnostics_redis_up "+value+"\n")
	}
	if !tells("1") {
		t.Error("Redis is there, and the metrics do not tell")
	}
	server.Close()
	for deadline := time.Now().Add(10 * time.Second); !tells("0"); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("Redis is gone, and the metrics do not tell")
		}
	}
}
