package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// connection is one that a pod may make or not. The address of another pod is "pod:NAME:PORT".
type connection struct {
	from, to string
	allowed  bool
}

// connections are tried twice: without policies all of them come about, so that a failure is the policies' doing.
var connections = []connection{
	{"gateway", "pod:worker:8081", true},
	{"gateway", "pod:redis:6379", true},
	{"gateway", "10.203.0.10:53", true},
	{"gateway", "11.80.0.1:80", true},
	{"gateway", "10.203.0.1:443", false},
	{"gateway", "10.201.1.1:6443", false},
	{"gateway", "10.201.1.2:10250", false},
	{"gateway", "10.201.2.2:10250", false},
	{"gateway", "169.254.169.254:80", false},
	{"gateway", "pod:proxy:8080", false},
	{"worker", "11.80.0.1:80", true},
	{"worker", "10.203.0.10:53", false},
	{"worker", "10.203.0.1:443", false},
	{"worker", "169.254.169.254:80", false},
	{"worker", "pod:redis:6379", false},
	{"worker", "pod:gateway:8080", false},
	{"redis", "pod:worker:8081", false},
	{"redis", "10.203.0.10:53", false},
	{"redis", "11.80.0.1:80", false},
	{"stranger", "pod:worker:8081", false},
	{"stranger", "pod:worker:9091", false},
	{"stranger", "pod:redis:6379", false},
	{"stranger", "pod:gateway:8080", false},
	{"stranger", "11.80.0.1:80", true},
	{"proxy", "pod:gateway:8080", true},
	{"proxy", "pod:gateway:9090", false},
	{"proxy", "pod:worker:8081", false},
}

// pod is where one runs.
type pod struct{ node, address, container string }

// pods are one of each component, and the two that are not the chart's.
func (p *proof) pods(ctx context.Context) (map[string]pod, error) {
	found := map[string]pod{}
	for name, selector := range map[string]string{
		"gateway": "app.kubernetes.io/component=gateway", "worker": "app.kubernetes.io/component=worker",
		"redis": "app.kubernetes.io/component=redis", "proxy": "app=proxy", "stranger": "app=stranger",
	} {
		out, err := p.cluster.output(ctx, "kubectl", "get", "pods", "-A", "-l", selector, "-o",
			`jsonpath={range .items[?(@.status.phase=="Running")]}{.spec.nodeName} {.status.podIP} `+
				`{.status.containerStatuses[0].containerID} {.metadata.deletionTimestamp}{"\n"}{end}`)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			if fields := strings.Fields(line); len(fields) == 3 { // a fourth one is of a pod that ends
				found[name] = pod{fields[0], fields[1], strings.TrimPrefix(fields[2], "containerd://")}
			}
		}
		if found[name] == (pod{}) {
			return nil, fmt.Errorf("no pod %s:\n%s", name, out)
		}
	}
	return found, nil
}

// inPod runs a command of this machine in the network namespace of a pod.
func (p *proof) inPod(ctx context.Context, at pod, command string) (string, error) {
	const script = `pid=$(ctr -a /run/containerd/containerd.sock -n k8s.io task ls | awk -v id="$1" '$1 == id {print $2}')
		[ -n "$pid" ] || { echo "no task $1"; exit 2; }
		exec nsenter --target "$pid" --net -- bash -c "$2"`
	return p.cluster.in(ctx, at.node, "bash", "-c", script, "bash", at.container, command)
}

// reach tries every connection until all are as wanted: the controller of policies takes a moment.
func (p *proof) reach(ctx context.Context, policies bool) error {
	pods, err := p.pods(ctx)
	if err != nil {
		return err
	}
	wrong := connections
	var last []string
	for end := time.Now().Add(time.Minute); len(wrong) > 0 && time.Now().Before(end) && ctx.Err() == nil; {
		var still []connection
		last = nil
		for _, c := range wrong {
			to := c.to
			if name, ok := strings.CutPrefix(c.to, "pod:"); ok {
				name, port, _ := strings.Cut(name, ":")
				to = pods[name].address + ":" + port
			}
			out, err := p.inPod(ctx, pods[c.from], "nc -z -w 1 "+strings.Replace(to, ":", " ", 1))
			if want := c.allowed || !policies; (err == nil) != want {
				still = append(still, c)
				last = append(last, fmt.Sprintf("%s to %s (%s): want %t; %v %s", c.from, c.to, to, want, err, out))
			}
		}
		wrong = still
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(last, "\n"))
	}
	allowed := 0
	for _, c := range connections {
		if c.allowed || !policies {
			allowed++
		}
	}
	p.notef("%d connections tried, policies %t: %d came about, %d did not, all as wanted", len(connections), policies,
		allowed, len(connections)-allowed)
	return nil
}
