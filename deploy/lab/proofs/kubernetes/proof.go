package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/netns"
)

//go:embed beside.yaml
var beside []byte

//go:embed values.yaml
var values []byte

const (
	release = "d"
	object  = "d-network-diagnostics" // the name of the release's objects
)

// proof is what is done with the cluster, in order, and what was seen.
type proof struct {
	cluster *cluster
	ns      *netns.NS // of the visitors
	rows    []string  // of the table of requests
	notes   []string
}

func newProof(c *cluster) *proof { return &proof{cluster: c} }

func (p *proof) notef(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

func (p *proof) run(ctx context.Context) (err error) {
	if p.ns, err = netns.Open(p.cluster.lab.Namespace(lab.NearHost)); err != nil {
		return err
	}
	defer p.ns.Close()
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"what is beside the release", p.prepare},
		{"an install without networks fails", p.failWithoutNetworks},
		{"install of the previous version, without policies", p.install},
		{"everything is reached without policies", func(ctx context.Context) error { return p.reach(ctx, false) }},
		{"policies on", p.enablePolicies},
		{"policies are enforced", func(ctx context.Context) error { return p.reach(ctx, true) }},
		{"forged addresses", p.forge},
		{"one limit over three gateways", p.limit},
		{"the tools, with a worker in datagram mode", func(ctx context.Context) error { return p.tools(ctx, "datagram") }},
		{"upgrade", p.upgrade},
		{"rollback", p.rollBack},
		{"drain", p.drain},
		{"a gateway is killed", p.kill},
		{"Redis is lost", p.loseRedis},
		{"a raw worker is refused where restricted is enforced", p.refuseRaw},
		{"a raw worker in a privileged namespace", p.runRaw},
		{"another place", p.place},
		{"removal keeps the Secret", p.remove},
	} {
		begin := time.Now()
		stepErr := step.do(ctx)
		fmt.Printf("%6.1f s  %s: %v\n", time.Since(begin).Seconds(), step.name, outcome(stepErr))
		if stepErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", step.name, stepErr))
		}
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
	}
	fmt.Print("\n| under load | took, s | requests | lost | slowest, s |\n|---|--:|--:|--:|--:|\n")
	fmt.Println(strings.Join(p.rows, "\n"))
	fmt.Println("\n- " + strings.Join(p.notes, "\n- "))
	return err
}

func outcome(err error) string {
	if err != nil {
		return "FAILED: " + err.Error()
	}
	return "ok"
}

// prepare makes the namespaces and the pods that are not the chart's, and a server where clouds have their metadata.
func (p *proof) prepare(ctx context.Context) error {
	c := p.cluster
	listener, err := c.lab.Listen(lab.ServiceHost, "tcp", "169.254.169.254:80")
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	context.AfterFunc(ctx, func() { listener.Close() })
	for name, content := range map[string][]byte{"beside.yaml": beside, "values.yaml": values} {
		if err := os.WriteFile(c.path(name), content, 0o600); err != nil {
			return err
		}
	}
	return errors.Join(
		c.do(ctx, "kubectl", "apply", "-f", c.path("beside.yaml")),
		c.do(ctx, "kubectl", "-n", "ingress", "create", "configmap", "caddy",
			"--from-file="+filepath.Join(c.opts.root, "deploy/proxies/Caddyfile")),
		c.do(ctx, "kubectl", "-n", "ingress", "wait", "--for=condition=Ready", "--timeout=60s", "pod/proxy"),
		c.do(ctx, "kubectl", "wait", "--for=condition=Ready", "--timeout=60s", "pod/stranger"))
}

// helm installs or upgrades the release to the values of values.yaml and further ones.
func (p *proof) helm(ctx context.Context, set ...string) error {
	c := p.cluster
	args := []string{"upgrade", "--install", release, filepath.Join(c.opts.root, "deploy/kubernetes/network-diagnostics"),
		"--namespace", "tools", "--values", c.path("values.yaml"), "--wait", "--timeout", "150s"}
	for _, s := range set {
		args = append(args, "--set", s)
	}
	return c.do(ctx, "helm", args...)
}

func (p *proof) failWithoutNetworks(ctx context.Context) error {
	err := p.helm(ctx, "networks.nodes=null")
	if err == nil || !strings.Contains(err.Error(), "networks.nodes: empty") {
		return fmt.Errorf("error %w", err)
	}
	return nil
}

var previous = []string{"gateway.image.tag=previous", "worker.image.tag=previous"}

func (p *proof) install(ctx context.Context) error {
	begin := time.Now()
	if err := p.helm(ctx, append([]string{"networkPolicy.enabled=false"}, previous...)...); err != nil {
		return err
	}
	// The autoscaler makes one gateway three.
	if err := p.gateways(ctx); err != nil {
		return err
	}
	p.notef("install until three gateways were ready: %.1f s", time.Since(begin).Seconds())
	return errors.Join(p.ready(ctx, `"redis":"ok","worker":"ok"`),
		p.cluster.do(ctx, "kubectl", "-n", "tools", "exec", "deployment/"+object+"-gateway", "--",
			"/gateway", "-healthcheck"))
}

// gateways waits until three are ready, and none is there beside them.
func (p *proof) gateways(ctx context.Context) error {
	return errors.Join(
		p.cluster.await(ctx, "gateways", "-n", "tools", "wait", "--timeout=60s",
			"--for=jsonpath={.status.readyReplicas}=3", "deployment/"+object+"-gateway"),
		p.cluster.do(ctx, "kubectl", "-n", "tools", "rollout", "status", "--timeout=150s", "deployment/"+object+"-gateway"))
}

// ready waits until /readyz has what is wanted, through the ingress.
func (p *proof) ready(ctx context.Context, want string) error {
	v := newVisitor(p.ns, 0, false)
	return repeat(ctx, time.Minute, func() error {
		status, text, err := v.send(ctx, "/readyz", nil, nil)
		if err == nil && (status != http.StatusOK || !strings.Contains(text, want)) {
			err = fmt.Errorf("/readyz: %d %s, want %s", status, text, want)
		}
		return err
	})
}

func (p *proof) enablePolicies(ctx context.Context) error { return p.helm(ctx, previous...) }

// forge sends headers that claim another address, in each form.
func (p *proof) forge(ctx context.Context) error {
	v := newVisitor(p.ns, 7, false)
	forged := 0
	for _, header := range []http.Header{
		{"X-Forwarded-For": {"192.0.2.1"}}, {"X-Forwarded-For": {"192.0.2.1", "192.0.2.2, 192.0.2.3"}},
		{"X-Real-Ip": {"192.0.2.1"}}, {"Cf-Connecting-Ip": {"192.0.2.1"}}, {"Forwarded": {"for=192.0.2.1"}},
		{"X-Forwarded-For": {"192.0.2.1"}, "X-Real-Ip": {"192.0.2.1"}, "Connection": {"x-forwarded-for"}},
	} {
		status, text, err := v.send(ctx, "/api/tools/my-ip", map[string]any{"input": ""}, header)
		if err != nil || status != http.StatusOK || !strings.Contains(text, `"`+v.address.String()+`"`) ||
			strings.Contains(text, "192.0.2.") {
			return fmt.Errorf("%v: %d %s %w", header, status, text, err)
		}
		forged++
	}
	p.notef("%d requests with forged headers through the ingress: the client was %s each time", forged, v.address)
	return nil
}

// limit sends ninety requests of one visitor at once; thirty a minute may pass, whichever gateway they reach.
func (p *proof) limit(ctx context.Context) error {
	v := newVisitor(p.ns, 9, false)
	const sent = 90
	results := make(chan int, sent)
	for range sent {
		go func() {
			status, _, _ := v.run(ctx, "my-ip", "", nil)
			results <- status
		}()
	}
	passed, refused := 0, 0
	for range sent {
		switch <-results {
		case http.StatusOK:
			passed++
		case http.StatusTooManyRequests:
			refused++
		}
	}
	p.notef("%d requests of one visitor at once, over three gateways: %d passed, %d were refused", sent, passed, refused)
	// One a two seconds is given back while they run.
	if passed < 30 || passed > 32 || passed+refused != sent {
		return fmt.Errorf("%d passed, %d were refused", passed, refused)
	}
	return nil
}

// tools runs what needs DNS, the internet and the worker.
func (p *proof) tools(ctx context.Context, mode string) error {
	udp, udpStatus := []string{"502", "can trace with ICMP only"}, http.StatusBadGateway
	if mode == "raw" {
		udp, udpStatus = []string{`"reached":true`}, http.StatusOK
	}
	var errs []error
	for i, t := range []struct {
		slug, input string
		options     map[string]any
		status      int
		parts       []string
	}{
		{"dns-lookup", "lab-dns.com", nil, http.StatusOK, []string{"11.80.0.1"}},
		{"uptime", "http://clean.lab-transit.net/", nil, http.StatusOK, []string{`"verdict"`}},
		{"port-checker", "fast.lab-site.com:443", nil, http.StatusOK, []string{`"state":"open"`}},
		{"ping", "11.90.0.7", nil, http.StatusOK, []string{`"received":10`, `"lossPercent":0`}},
		{"traceroute", "11.90.0.8", nil, http.StatusOK, []string{`"reached":true`, "11.77.5.1"}},
		{"traceroute", "11.90.0.9", map[string]any{"protocol": "udp"}, udpStatus, udp[max(0, len(udp)-1):]},
		// Of this cluster, and refused.
		{"port-checker", publicHost + ":80", nil, http.StatusBadRequest, nil},
		{"port-checker", "10.203.0.1:443", nil, http.StatusBadRequest, nil},
		{"dns-lookup", "kubernetes.default.svc.cluster.local", nil, http.StatusBadRequest, nil},
	} {
		status, text, err := newVisitor(p.ns, 20+i, false).run(ctx, t.slug, t.input, t.options)
		if err == nil && status != t.status {
			err = fmt.Errorf("status %d, want %d", status, t.status)
		}
		for _, part := range t.parts {
			if !strings.Contains(text, part) {
				err = errors.Join(err, fmt.Errorf("without %s", part))
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w: %.600s", t.slug, t.input, err, text))
		}
	}
	namespace := map[string]string{"raw": "probes", "datagram": "tools"}[mode]
	log, err := p.cluster.output(ctx, "kubectl", "-n", namespace, "logs", "deployment/"+object+"-worker")
	if !strings.Contains(log, `"mode":"`+mode+`"`) {
		errs = append(errs, fmt.Errorf("the worker's log has no mode %s: %s %w", mode, log, err))
	}
	p.notef("a worker in %s mode in a namespace that enforces %s: ping 11.90.0.7 ten of ten, traceroute 11.90.0.8 reached",
		mode, map[string]string{"raw": "privileged", "datagram": "restricted"}[mode])
	return errors.Join(errs...)
}

// upgrade is to this tree's version, and keeps the Secret.
func (p *proof) upgrade(ctx context.Context) error {
	before, err := p.secret(ctx)
	if err != nil {
		return err
	}
	err = p.under(ctx, "upgrade from "+p.cluster.opts.previous, 0, func(ctx context.Context) error { return p.helm(ctx) })
	after, secretErr := p.secret(ctx)
	if before != after {
		secretErr = errors.Join(secretErr, errors.New("the upgrade changed the Secret"))
	}
	return errors.Join(err, secretErr, p.gateways(ctx), p.ready(ctx, `"redis":"ok","worker":"ok"`))
}

func (p *proof) secret(ctx context.Context) (string, error) {
	out, err := p.cluster.output(ctx, "kubectl", "-n", "tools", "get", "secret", object, "-o", "jsonpath={.data}")
	if err == nil && !strings.Contains(out, "worker-token") {
		err = fmt.Errorf("the Secret has %q", out)
	}
	return out, err
}

func (p *proof) rollBack(ctx context.Context) error {
	return errors.Join(p.under(ctx, "rollback", 0, func(ctx context.Context) error {
		return p.cluster.do(ctx, "helm", "rollback", release, "--namespace", "tools", "--wait", "--timeout", "150s")
	}), p.helm(ctx))
}

// drain empties n2, on which the disruption budget lets one gateway go after the other.
func (p *proof) drain(ctx context.Context) error {
	if err := p.gateways(ctx); err != nil {
		return err
	}
	count := func() (string, error) {
		return p.cluster.output(ctx, "kubectl", "-n", "tools", "get", "pods", "--field-selector", "spec.nodeName=n2",
			"-o", `jsonpath={.items[*].metadata.labels.app\.kubernetes\.io/component}`)
	}
	before, err := count()
	if err != nil || !strings.Contains(before, "gateway") {
		return fmt.Errorf("on n2 is no gateway, only %q: %w", before, err)
	}
	err = p.under(ctx, "drain of a node", 0, func(ctx context.Context) error {
		return errors.Join(p.cluster.do(ctx, "kubectl", "drain", "n2", "--ignore-daemonsets", "--delete-emptydir-data",
			"--timeout=240s"), p.gateways(ctx))
	})
	after, countErr := count()
	if after != "" {
		countErr = errors.Join(countErr, fmt.Errorf("on n2 are %s", after))
	}
	p.notef("drained, with those that had not ended yet: %s", before)
	return errors.Join(err, countErr, p.cluster.do(ctx, "kubectl", "uncordon", "n2"))
}

// kill ends a gateway without any notice: what it had accepted is lost, and nothing else.
func (p *proof) kill(ctx context.Context) error {
	return p.under(ctx, "a gateway is killed", requestRate, func(ctx context.Context) error {
		pods, err := p.pods(ctx)
		if err != nil {
			return err
		}
		const script = `ctr -a /run/containerd/containerd.sock -n k8s.io task kill -s SIGKILL "$1"`
		out, err := p.cluster.in(ctx, pods["gateway"].node, "bash", "-c", script, "bash", pods["gateway"].container)
		if err != nil {
			return fmt.Errorf("%s: %w", out, err)
		}
		sleep(ctx, 3*time.Second)
		return p.gateways(ctx)
	})
}

// loseRedis takes it away: the gateways count in memory meanwhile.
func (p *proof) loseRedis(ctx context.Context) error {
	scale := func(ctx context.Context, n int) error {
		return p.cluster.do(ctx, "kubectl", "-n", "tools", "scale", fmt.Sprintf("--replicas=%d", n),
			"deployment/"+object+"-redis")
	}
	return p.under(ctx, "Redis is lost, and comes back", 0, func(ctx context.Context) error {
		return errors.Join(scale(ctx, 0), p.ready(ctx, `"redis":"down"`), scale(ctx, 1), p.ready(ctx, `"redis":"ok"`))
	})
}

// refuseRaw asks for a raw worker in the release's namespace: its pods are rejected, and the worker of before stays.
func (p *proof) refuseRaw(ctx context.Context) error {
	c := p.cluster
	patch := []string{"upgrade", release, filepath.Join(c.opts.root, "deploy/kubernetes/network-diagnostics"),
		"--namespace", "tools", "--values", c.path("values.yaml"), "--set", "worker.mode=raw"}
	if err := c.do(ctx, "helm", patch...); err != nil {
		return err
	}
	return errors.Join(repeat(ctx, 30*time.Second, func() error {
		out, err := c.output(ctx, "kubectl", "-n", "tools", "get", "events", "--field-selector", "reason=FailedCreate",
			"-o", "jsonpath={.items[*].message}")
		if !strings.Contains(out, `violates PodSecurity "restricted`) || !strings.Contains(out, "NET_RAW") {
			err = errors.Join(err, errors.New("no pod was rejected"))
		}
		return err
	}), p.ready(ctx, `"worker":"ok"`))
}

func (p *proof) runRaw(ctx context.Context) error {
	if err := p.helm(ctx, "worker.mode=raw", "worker.namespace=probes"); err != nil {
		return err
	}
	// The token is another file for the gateways' new pods, and the worker another name.
	if err := errors.Join(p.gateways(ctx), p.ready(ctx, `"worker":"ok"`), p.tools(ctx, "raw")); err != nil {
		return err
	}
	pods, err := p.pods(ctx)
	if err != nil {
		return err
	}
	const script = `pid=$(ctr -a /run/containerd/containerd.sock -n k8s.io task ls | awk -v id="$1" '$1 == id {print $2}')
		grep -E '^(Uid|CapEff|CapPrm|CapInh|CapAmb):' "/proc/$pid/status" | tr '\t\n' '  '`
	out, err := p.cluster.in(ctx, pods["worker"].node, "bash", "-c", script, "bash", pods["worker"].container)
	if err != nil || strings.Count(out, "0000000000000000") != 4 || !strings.Contains(out, "65531") {
		return fmt.Errorf("the raw worker's rights: %s %w", out, err)
	}
	p.notef("the raw worker's rights once it runs: %s", out)
	return p.reach(ctx, true)
}

// place installs a second release, with a listener for the first one, which runs a ping there.
func (p *proof) place(ctx context.Context) error {
	c := p.cluster
	const script = `set -e
		mkdir -p "$DIR/peer" && cd "$DIR/peer"
		PEER_TOKEN_FILE=$PWD/token PEER_TLS_KEY_FILE=$PWD/key.pem PEER_TLS_CERT_FILE=$PWD/cert.pem \
			PEER_TLS_NAMES=fra-network-diagnostics-peer.fra "$GATEWAY" -init-place
		kubectl="$BIN/kubectl --kubeconfig $DIR/kubeconfig"
		$kubectl create namespace fra
		$kubectl -n fra create secret generic peer --from-file=token --from-file=key.pem --from-file=cert.pem
		$kubectl -n tools create secret generic others --from-file=fra-token=token --from-file=fra-cert.pem=cert.pem
		"$BIN/helm" --kubeconfig "$DIR/kubeconfig" install fra "$ROOT/deploy/kubernetes/network-diagnostics" -n fra \
			--values "$DIR/values.yaml" --wait --timeout 150s --set gateway.autoscaling.minReplicas=1 \
			--set ingress.enabled=false,public.host=,place.id=fra,place.peer.enabled=true,place.peer.secret=peer \
			--set place.peer.service.type=ClusterIP,place.peer.from='{` + podRange + `}'`
	if out, err := c.lab.Exec(ctx, lab.ServiceHost, "env", "DIR="+c.dir, "ROOT="+c.opts.root, "BIN="+c.opts.bin,
		"GATEWAY="+c.opts.gateway, "bash", "-c", script); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	// In one cluster the place has a private address, which the policy has to allow.
	const rule = "networkPolicy.gatewayEgress[0]."
	if err := p.helm(ctx, "place.id=ams", "place.secret=others", "place.others[0].id=fra",
		"place.others[0].url=https://fra-network-diagnostics-peer.fra:8443", rule+"ports[0].port=8443",
		rule+`to[0].namespaceSelector.matchLabels.kubernetes\.io/metadata\.name=fra`); err != nil {
		return err
	}
	if err := p.ready(ctx, `"fra":"ok"`); err != nil {
		return err
	}
	status, text, err := newVisitor(p.ns, 50, false).run(ctx, "ping", "11.90.0.77", map[string]any{"place": "fra"})
	if err != nil || status != http.StatusOK || !strings.Contains(text, `"id":"fra"`) ||
		!strings.Contains(text, `"received":10`) {
		return fmt.Errorf("%d %.600s %w", status, text, err)
	}
	p.notef("a ping at another place, a second release: ten of ten")
	return nil
}

func (p *proof) remove(ctx context.Context) error {
	before, err := p.secret(ctx)
	if err != nil {
		return err
	}
	if err := p.cluster.do(ctx, "helm", "uninstall", release, "--namespace", "tools", "--wait"); err != nil {
		return err
	}
	after, err := p.secret(ctx)
	if before != after {
		err = errors.Join(err, errors.New("the Secret changed"))
	}
	return err
}
