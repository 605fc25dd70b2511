package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"diagnostics/lab"

	"github.com/miekg/dns"
)

// others are unbound and the other programs that are installed.
func (p proof) others(quick bool) ([]tool, error) {
	anchors, err := p.delvAnchors()
	if err != nil {
		return nil, err
	}
	tools := []tool{{"unbound", p.unbound}}
	for _, t := range []struct {
		tool
		slow bool
	}{
		{tool{"delv", func(ctx context.Context, r row) (string, error) { return p.delv(ctx, r, anchors) }}, false},
		{tool{"dnsviz", p.dnsviz}, true},
		{tool{"zonemaster-cli", p.zonemaster}, true},
	} {
		if _, err := exec.LookPath(t.name); err != nil {
			fmt.Fprintln(p.out, t.name, "is not installed")
		} else if !quick || !t.slow {
			tools = append(tools, t.tool)
		}
	}
	return tools, nil
}

// inside makes a command in the service's network.
func (p proof) inside(ctx context.Context, command ...string) *exec.Cmd {
	args := append([]string{"netns", "exec", p.lab.Namespace(lab.ServiceHost)}, command...)
	return exec.CommandContext(ctx, "ip", args...)
}

// delvAnchors writes the lab's trust anchors as delv reads them, and returns the file.
func (p proof) delvAnchors() (string, error) {
	file, err := os.Open(p.lab.TrustAnchorsFile())
	if err != nil {
		return "", err
	}
	defer file.Close()
	var text strings.Builder
	parser := dns.NewZoneParser(file, ".", "")
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		switch rr := rr.(type) {
		case *dns.DS:
			fmt.Fprintf(&text, "\t. static-ds %d %d %d \"%s\";\n", rr.KeyTag, rr.Algorithm, rr.DigestType, rr.Digest)
		case *dns.DNSKEY:
			fmt.Fprintf(&text, "\t. static-key %d %d %d \"%s\";\n", rr.Flags, rr.Protocol, rr.Algorithm, rr.PublicKey)
		}
	}
	name := filepath.Join(p.lab.Dir(), "delv.anchors")
	return name, errors.Join(parser.Err(),
		os.WriteFile(name, []byte("trust-anchors {\n"+text.String()+"};\n"), 0o644))
}

// delv is the state that delv finds by the records that unbound passes on unchecked.
func (p proof) delv(ctx context.Context, r row, anchors string) (string, error) {
	out, err := p.inside(ctx, "delv", "@"+resolver.Addr().String(), "-4", "-a", anchors, "+root=.", r.input,
		dns.TypeToString[r.qtype]).CombinedOutput()
	switch {
	case bytes.Contains(out, []byte("fully validated")):
		return lab.Secure, nil
	case bytes.Contains(out, []byte("unsigned answer")):
		return lab.Insecure, nil
	case bytes.Contains(out, []byte("resolution failed: timed out")):
		return "fails", nil
	case bytes.Contains(out, []byte("resolution failed")):
		return lab.Bogus, nil
	}
	return "", errors.Join(err, fmt.Errorf("%s", out))
}

// dnsviz is the state of the zone's delegation in what dnsviz finds, and whether it found errors besides.
func (p proof) dnsviz(ctx context.Context, r row) (string, error) {
	const script = `dnsviz probe -A -4 -d 0 -R "$0" -x ".+:$1" "$2" | dnsviz grok -t "$3" -l info`
	out, err := p.inside(ctx, "sh", "-c", script, dns.TypeToString[r.qtype], rootHint(), r.input,
		p.lab.TrustAnchorsFile()).Output()
	if err != nil {
		return "fails", ctx.Err()
	}
	var found map[string]struct{ Delegation struct{ Status string } }
	if err := json.Unmarshal(out, &found); err != nil {
		return "fails", ctx.Err()
	}
	state := strings.ToLower(found[r.domain+"."].Delegation.Status)
	if state == "" {
		state = "no status"
	}
	if bytes.Contains(out, []byte(`"errors": [`)) {
		state += "+errors"
	}
	return state, nil
}

// rootHint is the first root server as dnsviz takes it.
func rootHint() string { return "a.root-servers.net=" + lab.RootServer().String() }

// usual are the tags that zonemaster-cli has for every signed zone of the lab, whose signatures last ten years.
var usual = []string{"REMAINING_LONG", "DURATION_LONG"}

// zonemaster is the worst that zonemaster-cli finds in the DNSSEC of the zone, and its tags.
func (p proof) zonemaster(ctx context.Context, r row) (string, error) {
	out, err := p.inside(ctx, "zonemaster-cli", "--hints", p.lab.RootHintsFile(), "--json", "--level", "NOTICE",
		r.domain).Output()
	if err != nil {
		return "fails", ctx.Err()
	}
	var found []struct{ Module, Level, Tag string }
	if err := json.Unmarshal(out, &found); err != nil {
		return "", fmt.Errorf("%w: %.300s", err, out)
	}
	worst := "ok"
	var tags []string
	for _, level := range []string{"CRITICAL", "ERROR", "WARNING", "NOTICE"} {
		for _, m := range found {
			if m.Level == level && strings.EqualFold(m.Module, "DNSSEC") && !slices.Contains(slices.Concat(usual, tags), m.Tag) {
				worst, tags = strings.ToLower(level), append(tags, m.Tag)
			}
		}
		if len(tags) > 0 {
			return worst + " " + strings.Join(tags[:min(len(tags), 3)], ","), nil
		}
	}
	return worst, nil
}
