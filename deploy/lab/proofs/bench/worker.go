package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"regexp"
	"time"

	"diagnostics/lab"
)

const (
	token      = "a-token-for-the-bench"
	workerAddr = "127.77.0.2:8081"
	// workerMetricsAddr is where the worker counts the packets that it could not use.
	workerMetricsAddr = "127.77.0.2:9091"
)

// packetsPerSecond is what the lab's cables, one thread for all, carry without delay on a small machine. Only the
// traces at once come near it.
const packetsPerSecond = "12000"

// startWorker runs the worker with slots and budgets for the flood, which are not what is measured.
func (b *bench) startWorker(ctx context.Context) error {
	var err error
	b.process, err = b.lab.Start(lab.ServiceHost, "worker", []string{
		"WORKER_LISTEN_ADDR=" + workerAddr, "DIAGNOSTICS_WORKER_TOKEN=" + token, "LOG_LEVEL=warn",
		"METRICS_LISTEN_ADDR=" + workerMetricsAddr,
		"WORKER_MAX_CONCURRENT=100000", "WORKER_PACKETS_PER_SECOND=" + packetsPerSecond, "WORKER_TARGET_PACKETS_PER_SECOND=0",
	}, b.options.worker)
	if err != nil {
		return err
	}
	for range 500 {
		resp, err := b.get(ctx, "/readyz")
		if err == nil {
			fmt.Printf("worker ready: %s\n", resp)
			return nil
		}
		select {
		case <-b.process.Done():
			return fmt.Errorf("the worker ended at its start: %s", b.process.Log())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return errors.New("the worker does not answer")
}

func (b *bench) get(ctx context.Context, path string) ([]byte, error) {
	return b.getFrom(ctx, workerAddr, path)
}

func (b *bench) getFrom(ctx context.Context, addr, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return nil, err
	}
	body, _, err := b.do(r)
	return body, err
}

func (b *bench) do(r *http.Request) ([]byte, http.Header, error) {
	resp, err := b.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("status %d: %.300s", resp.StatusCode, body)
	}
	return body, resp.Header, nil
}

// trace is what the bench reads of a traceroute's answer, and ping of a ping's.
type trace struct {
	StopReason string
	Hops       []hop
}

type hop struct {
	Addresses      []netip.Addr
	Hidden         bool
	Sent, Received int
	BestMs         *float64
}

type ping struct {
	Received int
	MaxMs    float64
}

// job runs one job and gives its wall time.
func (b *bench) job(ctx context.Context, tool string, target netip.Addr, data any) (time.Duration, error) {
	body := fmt.Sprintf(`{"target":%q}`, target)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+workerAddr+"/api/"+tool,
		bytes.NewBufferString(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	start := time.Now()
	answer, _, err := b.do(r)
	took := time.Since(start)
	if err != nil {
		return took, err
	}
	envelope := struct{ Data any }{data}
	return took, json.Unmarshal(answer, &envelope)
}

var unused = regexp.MustCompile(`(?m)^diagnostics_worker_packets_(?:send_errors|unmatched|doubted|dropped)_total \S+$`)

// unused counts the packets that the worker could not send or use: late, doubted, or dropped by the kernel.
func (b *bench) unused(ctx context.Context) (string, error) {
	metrics, err := b.getFrom(ctx, workerMetricsAddr, "/metrics")
	if err != nil {
		return "", err
	}
	return string(bytes.Join(unused.FindAll(metrics, -1), []byte(", "))), nil
}

// cpu is the processor time that the worker has used.
func (b *bench) cpu() (time.Duration, error) { return b.process.CPU() }
