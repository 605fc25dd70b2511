package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report writes everything as Markdown.
func (s *soak) report(w io.Writer) {
	fmt.Fprintf(w, "\n### Soak: %v at half capacity\n\n", s.opts.length)
	fmt.Fprintf(w, "%d processors (%s), %s, seed %d. ", runtime.NumCPU(), processor(), runtime.Version(), s.opts.seed)
	if s.cost > 0 {
		fmt.Fprintf(w, "A request of the mix costs %.1f ms of processor, clients and targets included: half of what this "+
			"machine can do is %.0f requests a second. ", s.cost.Seconds()*1000, s.rate)
	}
	fmt.Fprintf(w, "%d requests at %.0f a second; %d clients left before their answer; %d answers that nothing "+
		"explains.\n", s.load.asked.Load(), s.rate, s.judge.left, s.judge.unfitCount)
	s.reportTools(w)
	s.reportFaults(w)
	s.reportGrowth(w)
	s.reportFindings(w)
}

func (s *soak) reportTools(w io.Writer) {
	fmt.Fprint(w, "\n| asked | answers | p50 ms | p99 ms | longest ms | by status |\n|---|--:|--:|--:|--:|---|\n")
	s.judge.mu.Lock()
	defer s.judge.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.judge.statuses)) {
		took := slices.Sorted(slices.Values(s.judge.took[name]))
		var by []string
		for _, status := range slices.Sorted(maps.Keys(s.judge.statuses[name])) {
			label := fmt.Sprint(status)
			if status == 0 {
				label = "cut off"
			}
			by = append(by, fmt.Sprintf("%s: %d", label, s.judge.statuses[name][status]))
		}
		fmt.Fprintf(w, "| %s | %d | %s | %s | %s | %s |\n", name, len(took), ms(took, 50), ms(took, 99), ms(took, 100),
			strings.Join(by, ", "))
	}
}

// ms is a percentile of sorted durations.
func ms(sorted []time.Duration, percent int) string {
	if len(sorted) == 0 {
		return "–"
	}
	at := sorted[min(len(sorted)-1, len(sorted)*percent/100)]
	return fmt.Sprintf("%.1f", float64(at.Microseconds())/1000)
}

func (s *soak) reportFaults(w io.Writer) {
	fmt.Fprint(w, "\n| fault | times | answers that it explains |\n|---|--:|--:|\n")
	for _, f := range s.faults() {
		times, answers := 0, 0
		for _, now := range s.windows.all {
			if now.name == f.name {
				times++
				answers += now.answers
			}
		}
		fmt.Fprintf(w, "| %s | %d | %d |\n", f.name, times, answers)
	}
}

func (s *soak) reportGrowth(w io.Writer) {
	fmt.Fprint(w, "\n| median of | first third | last third | at most | highest | at rest before | after |\n"+
		"|---|--:|--:|--:|--:|--:|--:|\n")
	for _, m := range measures {
		show := func(value float64, ok bool) string {
			if !ok {
				return "–"
			}
			return strings.TrimSpace(fmt.Sprintf("%.0f %s", value/m.unit, m.shown))
		}
		g := m.growth(s.samples.series[m.name], s.start, s.opts.length)
		before, known := s.rest[m.name]
		after, still := s.after[m.name]
		if !g.known && !known {
			continue // this kernel does not report it
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", m.name, show(g.first, g.known), show(g.last, g.known),
			show(g.bound, g.known), show(g.most, g.known), show(before, known), show(after, still))
	}
	fmt.Fprintf(w, "\nAt rest %.1f s after the last client left.\n", s.settled.Seconds())
}

// reportFindings shows the answers that nothing explains, with what the logs say of them.
func (s *soak) reportFindings(w io.Writer) {
	for _, f := range s.judge.unfit {
		fmt.Fprintf(w, "\nunexplained: %s\n", f.what)
		for _, line := range s.logLines(f.id) {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
}

// logLines are what all programs have logged of a request.
func (s *soak) logLines(id string) (lines []string) {
	if id == "" {
		return nil
	}
	seen := map[string]bool{}
	for _, p := range s.processes() {
		if seen[p.Name()] {
			continue // a second one by that name writes to the same file
		}
		seen[p.Name()] = true
		for line := range strings.Lines(p.Log()) {
			if strings.Contains(line, id) {
				lines = append(lines, p.Name()+": "+strings.TrimSpace(line))
			}
		}
	}
	return lines
}

// processor is the model of this machine's.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown"
}
