package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPU is the processor time that the program has used so far, by the clock that the kernel keeps of every process. It
// is an error where the program has ended.
func (p *Process) CPU() (time.Duration, error) {
	const ofProcess = 2 // CPUCLOCK_SCHED
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^p.PID()<<3|ofProcess), &used); err != nil {
		return 0, fmt.Errorf("the clock of process %d: %w", p.PID(), err)
	}
	return time.Duration(used.Nano()), nil
}

// Resident is the memory that the program holds, in bytes: all, and of it what is its own and no file's. It is an error
// where the program has ended.
func (p *Process) Resident() (all, own int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return 0, 0, err
	}
	found := map[string]int64{}
	for line := range strings.Lines(string(status)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			kib, _, _ := strings.Cut(strings.TrimSpace(value), " ")
			if n, err := strconv.ParseInt(kib, 10, 64); err == nil {
				found[name] = n << 10
			}
		}
	}
	if found["VmRSS"] == 0 {
		return 0, 0, errors.New("the program has no memory: it has ended")
	}
	return found["VmRSS"], found["RssAnon"], nil
}

// Metrics are those of a private listener inside the service's namespace, by name with labels as they are written.
func (l *Lab) Metrics(ctx context.Context, addr string) (map[string]float64, error) {
	client := l.HTTPClient()
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s/metrics: status %d", addr, resp.StatusCode)
	}
	found := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if i := strings.LastIndexByte(lines.Text(), ' '); i > 0 {
			if n, err := strconv.ParseFloat(lines.Text()[i+1:], 64); err == nil {
				found[lines.Text()[:i]] = n
			}
		}
	}
	return found, lines.Err()
}
