package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"diagnostics/lab"
)

//go:embed node.sh
var nodeScript []byte

//go:embed coredns.yaml
var coreDNS []byte

// The addresses of the cluster. The host svc is its way out, by its public address, and where the API server listens.
const (
	apiAddress = "10.201.0.1"
	podRange   = "10.202.0.0/16"
	services   = "10.203.0.0/24"
	nodeRange  = "10.201.0.0/16"
	token      = "lab-token"
	publicHost = "11.77.0.2"
)

// cluster is a control plane and two nodes inside the lab.
type cluster struct {
	lab   *lab.Lab
	opts  options
	dir   string
	nodes map[string]int // the process that is the first of a node's namespaces, by name
}

func startCluster(ctx context.Context, internet *lab.Lab, o options) (*cluster, error) {
	c := &cluster{lab: internet, opts: o, dir: internet.Dir(), nodes: map[string]int{}}
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"images", c.makeImages}, {"network", c.joinNetwork}, {"control plane", c.startControlPlane},
		{"nodes", c.startNodes}, {"DNS", c.startDNS},
	}
	for _, s := range steps {
		begin := time.Now()
		if err := s.do(ctx); err != nil {
			return c, fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Printf("cluster: %s after %v\n", s.name, time.Since(begin).Round(time.Second/10))
	}
	return c, nil
}

// makeImages builds the previous version from its commit.
func (c *cluster) makeImages(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(c.dir, "images"), 0o755); err != nil {
		return err
	}
	const build = `set -o pipefail
		mkdir "$DIR/previous" && git -C "$ROOT" archive "$COMMIT" | tar -x -C "$DIR/previous"
		make --no-print-directory -C "$DIR/previous" build VERSION=previous`
	cmd := exec.CommandContext(ctx, "bash", "-c", build)
	cmd.Env = append(os.Environ(), "DIR="+c.dir, "ROOT="+c.opts.root, "COMMIT="+c.opts.previous)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", c.opts.previous, err, out)
	}
	old := filepath.Join(c.dir, "previous", "bin")
	all, err := images(ctx, c.opts, filepath.Join(old, "gateway"), filepath.Join(old, "worker"))
	if err != nil {
		return err
	}
	for i, image := range all {
		if err := image.write(filepath.Join(c.dir, "images", strconv.Itoa(i)+".tar")); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(c.dir, "previous"))
}

// joinNetwork makes svc the router of the nodes, and a load balancer before the proxy's node port. 169.254.169.254 is
// there too: what pods may not reach has to exist.
func (c *cluster) joinNetwork(ctx context.Context) error {
	const script = `set -e
		sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0
		ip addr add ` + apiAddress + `/32 dev lo
		ip addr add 169.254.169.254/32 dev lo
		nft -f - <<-NFT
		table ip cluster {
			chain out { type nat hook postrouting priority srcnat;
				ip saddr { ` + nodeRange + `, ` + podRange + ` } ip daddr != { ` + nodeRange + `, ` + podRange + ` } masquerade
			}
			chain in { type nat hook prerouting priority dstnat;
				ip daddr ` + publicHost + ` tcp dport 80 dnat to 10.201.1.2:30080
			}
		}
		NFT`
	_, err := c.lab.Exec(ctx, lab.ServiceHost, "bash", "-c", script)
	return err
}

func (c *cluster) startControlPlane(ctx context.Context) error {
	kubeconfig := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: lab
clusters: [{name: lab, cluster: {server: "https://%s:6443", certificate-authority: %s/pki/apiserver.crt}}]
users: [{name: lab, user: {token: %s}}]
contexts: [{name: lab, context: {cluster: lab, user: lab}}]
`, apiAddress, c.dir, token)
	for name, content := range map[string]string{
		"kubeconfig": kubeconfig, "tokens.csv": token + ",admin,1,system:masters\n", "coredns.yaml": string(coreDNS),
	} {
		if err := os.WriteFile(c.path(name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	key, err := exec.CommandContext(ctx, "openssl", "genrsa", "2048").Output()
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.path("sa.key"), key, 0o600); err != nil {
		return err
	}
	etcd, err := exec.LookPath("etcd")
	if err != nil {
		return err
	}
	api := c.start("apiserver", c.bin("kube-apiserver"), "--etcd-servers=http://127.0.0.1:2379",
		"--service-cluster-ip-range="+services, "--advertise-address="+apiAddress, "--cert-dir="+c.path("pki"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+c.path("sa.key"),
		"--service-account-signing-key-file="+c.path("sa.key"), "--token-auth-file="+c.path("tokens.csv"),
		"--authorization-mode=RBAC", "--allow-privileged=true", "--kubelet-preferred-address-types=InternalIP")
	return errors.Join(
		c.start("etcd", etcd, "--data-dir="+c.path("etcd"), "--unsafe-no-fsync")(),
		api(),
		c.await(ctx, "the API server", "get", "--raw", "/readyz"),
		c.start("controllers", c.bin("kube-controller-manager"), "--kubeconfig="+c.path("kubeconfig"),
			"--leader-elect=false", "--service-account-private-key-file="+c.path("sa.key"),
			"--root-ca-file="+c.path("pki/apiserver.crt"))(),
		c.start("scheduler", c.bin("kube-scheduler"), "--kubeconfig="+c.path("kubeconfig"), "--leader-elect=false")(),
	)
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *cluster) bin(name string) string { return filepath.Join(c.opts.bin, name) }

// start is a program of the control plane, on svc, which begins when the result is called.
func (c *cluster) start(name, program string, args ...string) func() error {
	return func() error {
		_, err := c.lab.Start(lab.ServiceHost, name, nil, program, args...)
		return err
	}
}

// startNodes starts two nodes, and joins each to svc by a pair of devices.
func (c *cluster) startNodes(ctx context.Context) error {
	if err := os.WriteFile(c.path("node.sh"), nodeScript, 0o700); err != nil {
		return err
	}
	// The shell stays in the namespace of svc, where the lab finds it, and the node ends with it.
	const script = `setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc "$@"; exit`
	for i, name := range []string{"n1", "n2"} {
		number := strconv.Itoa(i + 1)
		p, err := c.lab.Start(lab.ServiceHost, name, []string{"HOME=/root"}, "/bin/bash", "-c", script, "bash",
			c.path("node.sh"), name, number, c.dir, c.opts.bin)
		if err != nil {
			return err
		}
		unshare, err := childOf(ctx, p.PID())
		if err != nil {
			return err
		}
		pid, err := childOf(ctx, unshare)
		if err != nil {
			return err
		}
		c.nodes[name] = pid
		join := fmt.Sprintf(`set -e
			ip link add k%[1]s type veth peer name eth0 netns %[2]d
			ip addr add 10.201.%[1]s.1/24 dev k%[1]s
			ip link set k%[1]s up
			ip route add 10.202.%[1]s.0/24 via 10.201.%[1]s.2`, number, pid)
		if _, err := c.lab.Exec(ctx, lab.ServiceHost, "bash", "-c", join); err != nil {
			return err
		}
	}
	for i, name := range []string{"n1", "n2"} {
		patch := fmt.Sprintf(`{"spec": {"podCIDR": "10.202.%d.0/24"}}`, i+1)
		if err := errors.Join(c.await(ctx, name, "patch", "node", name, "-p", patch),
			c.await(ctx, name, "wait", "--for=condition=Ready", "--timeout=60s", "node/"+name)); err != nil {
			return err
		}
	}
	return nil
}

// childOf waits for the one child of a process.
func childOf(ctx context.Context, pid int) (int, error) {
	path := fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)
	var child int
	err := repeat(ctx, 10*time.Second, func() error {
		text, err := os.ReadFile(path)
		if err == nil {
			child, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return err
	})
	return child, err
}

func (c *cluster) startDNS(ctx context.Context) error {
	return errors.Join(c.do(ctx, "kubectl", "apply", "-f", c.path("coredns.yaml")),
		c.do(ctx, "kubectl", "-n", "kube-system", "rollout", "status", "--timeout=120s", "deployment/coredns"))
}

// output runs kubectl or helm.
func (c *cluster) output(ctx context.Context, name string, args ...string) (string, error) {
	if name == "helm" {
		args = append(args, "--kubeconfig", c.path("kubeconfig"))
	} else {
		args = append([]string{"--kubeconfig", c.path("kubeconfig")}, args...)
	}
	out, err := c.lab.Exec(ctx, lab.ServiceHost, c.bin(name), args...)
	return strings.TrimSpace(string(out)), err
}

func (c *cluster) do(ctx context.Context, name string, args ...string) error {
	_, err := c.output(ctx, name, args...)
	return err
}

// await repeats a command of kubectl until it succeeds.
func (c *cluster) await(ctx context.Context, what string, args ...string) error {
	if err := repeat(ctx, 2*time.Minute, func() error { return c.do(ctx, "kubectl", args...) }); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// repeat tries until there is no error, or the time is over.
func repeat(ctx context.Context, limit time.Duration, try func() error) (err error) {
	for end := time.Now().Add(limit); ; sleep(ctx, 200*time.Millisecond) {
		if err = try(); err == nil || time.Now().After(end) || ctx.Err() != nil {
			return err
		}
	}
}

// in runs a command in a node's namespaces.
func (c *cluster) in(ctx context.Context, node string, args ...string) (string, error) {
	enter := []string{"--target", strconv.Itoa(c.nodes[node]), "--mount", "--pid", "--net", "--"}
	out, err := exec.CommandContext(ctx, "nsenter", append(enter, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// end ends the nodes, and removes their control groups, which outlive their processes.
func (c *cluster) end(ctx context.Context) error {
	for _, pid := range c.nodes {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return err
		}
	}
	return repeat(ctx, 10*time.Second, func() error {
		const remove = `find /sys/fs/cgroup -depth -type d -path "*/lab-k8s-n*" -exec rmdir {} +`
		out, err := exec.CommandContext(ctx, "bash", "-c", remove).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
}

// printLogs shows what a failure may be explained by.
func (c *cluster) printLogs() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for _, args := range [][]string{
		{"get", "pods", "-A", "-o", "wide"}, {"get", "events", "-A", "--sort-by=.lastTimestamp"},
		{"-n", "ingress", "logs", "proxy"},
	} {
		out, err := c.output(ctx, "kubectl", args...)
		fmt.Fprintln(os.Stderr, tail(out, 40), err)
	}
}

func tail(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
