// Command kubernetes installs the chart in a real cluster inside the lab, and changes and breaks it under load: etcd,
// containerd and runc of Debian; Kubernetes, CoreDNS, Helm and kube-router, which enforces the network policies, built
// from their modules (deploy/kubernetes/test/components.sh). The control plane is on the lab's host svc, and two nodes
// are behind it, each in namespaces of its own. Images are made of this repository's binaries and of Debian's; nothing
// is pulled. What it measured goes to stdout as Markdown. It takes root.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"diagnostics/lab"
	"diagnostics/lab/internal/project"
)

type options struct {
	root            string // of the repository
	bin             string // where the components are
	previous        string // the commit of the version that is upgraded
	gateway, worker string
	keep            bool
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", os.Getenv("KUBERNETES_BIN"), "directory of the components; empty = the user's cache")
	flag.StringVar(&o.previous, "previous", "HEAD~20", "the version that is upgraded")
	flag.BoolVar(&o.keep, "keep", false, "keep the cluster until an interrupt, after a failure too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes:", err)
		os.Exit(1)
	}
}

// packages are Debian's that have the programs of the proof.
const packages = "etcd-server containerd runc containernetworking-plugins conntrack ipset iptables nftables jq caddy " +
	"redis-server busybox netcat-openbsd openssl"

func checkPrograms() error {
	for _, program := range []string{"etcd", "containerd", "ctr", "runc", "/usr/lib/cni/ptp", "conntrack", "ipset",
		"iptables", "nft", "jq", "caddy", "redis-server", "busybox", "nc", "openssl", "setpriv", "unshare", "nsenter"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w; apt-get install --no-install-recommends %s", err, packages)
		}
	}
	return nil
}

func run(ctx context.Context, o options) (err error) {
	if err := checkPrograms(); err != nil {
		return err
	}
	if o.root, err = project.Root(); err != nil {
		return err
	}
	if o.gateway, o.worker, err = project.Binaries(ctx); err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	o.bin = cmp.Or(o.bin, filepath.Join(cache, "network-diagnostics", "kubernetes"))
	components := exec.CommandContext(ctx, filepath.Join(o.root, "deploy/kubernetes/test/components.sh"), o.bin)
	components.Stdout, components.Stderr = os.Stdout, os.Stderr
	if err := components.Run(); err != nil {
		return fmt.Errorf("build the components: %w", err)
	}
	internet, err := lab.Build(ctx, lab.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, internet.Close()) }()
	c, err := startCluster(ctx, internet, o)
	if err == nil {
		err = newProof(c).run(ctx)
	}
	if err != nil {
		c.printLogs()
	}
	if o.keep {
		fmt.Println("kept until an interrupt:", internet.Dir())
		<-ctx.Done()
	}
	return errors.Join(err, c.end(context.WithoutCancel(ctx)))
}
