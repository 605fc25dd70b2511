//go:build e2e

// Package e2e runs the shipped binaries on the lab and compares their answers with the lab's truth. LAB_GATEWAY
// and LAB_WORKER name the binaries; without them `make build` makes them.
package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"diagnostics/lab"
	"diagnostics/lab/internal/project"
	"diagnostics/shared/waittest"

	"go.uber.org/goleak"
)

// The lab and the service of all tests. Tests that count packets run one after the other; the others are parallel, and
// so run after those.
var (
	internet *lab.Lab
	service  *lab.Service
)

// The binaries, for tests that start them in a way of their own.
var gatewayProgram, workerProgram string

// unlimited are settings that keep one client's many requests from being the thing that is tested.
var unlimited = []string{
	"RATE_LIMIT_REQUESTS=0", "RATE_LIMIT_CLIENT_REQUESTS=0", "RATE_LIMIT_TARGET_REQUESTS=0", "RATE_LIMIT_SAMPLES=0",
	"RATE_LIMIT_ADDRESS_REQUESTS=0", "RATE_LIMIT_PAGES=0", "MAX_IN_FLIGHT_PER_CLIENT=0",
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err == nil && code == 0 {
		err = goleak.Find()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	if gatewayProgram, workerProgram, err = project.Binaries(context.Background()); err != nil {
		return 1, err
	}
	if internet, err = lab.Build(ctx, lab.Options{}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, internet.Close()) }()
	defer func() { stopChromium() }()
	service, err = internet.StartService(ctx, lab.ServiceOptions{
		Gateway: gatewayProgram, Worker: workerProgram,
		GatewayEnv: unlimited,
		// All that they can say: the log is read as a whole at the end.
		Env: []string{"LOG_LEVEL=debug"},
		// The tests are one visitor, who has a sixteenth of the slots.
		WorkerEnv: []string{"WORKER_MAX_CONCURRENT=4096", "WORKER_PACKETS_PER_SECOND=0",
			"WORKER_TARGET_PACKETS_PER_SECOND=0"},
	})
	if err != nil {
		return 1, err
	}
	// Most tests wait for something slow, not for the processor.
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		return 1, err
	}
	code = m.Run()
	for _, finding := range strangeLines(service.Processes()) {
		fmt.Fprintln(os.Stderr, finding)
		code = 1
	}
	if code != 0 {
		fmt.Fprintf(os.Stderr, "the gateway's log ends:\n%s\nthe worker's:\n%s\n",
			tail(service.Gateway.Process.Log()), tail(service.Worker.Process.Log()))
	}
	return code, nil
}

func tail(log string) string { return log[max(0, len(log)-4000):] }

// proofOnly skips a test that takes too long for make e2e: cmd/proof runs it.
func proofOnly(t *testing.T) {
	t.Helper()
	if os.Getenv("LAB_PROOF") == "" {
		t.Skip("a proof: go run ./deploy/lab/cmd/proof")
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	waittest.Until(t, what, holds)
}
