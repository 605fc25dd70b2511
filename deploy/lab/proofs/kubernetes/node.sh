#!/usr/bin/env bash
# One node of the cluster, in namespaces of its own: node.sh NAME NUMBER DIRECTORY BIN. The proof joins its device eth0 to
# the lab. Everything here ends with this process, which is the first of its PID namespace, mounts and devices too.
set -euo pipefail
name=$1 number=$2 dir=$3 bin=$4
mount --make-rprivate /
mount -t tmpfs tmpfs /var/log
for path in /run/containerd /run/netns /run/cni /var/lib/kubelet /var/lib/cni; do
  mkdir -p "$path"
  mount -t tmpfs tmpfs "$path"
done
mount --make-rshared /
# ip-netns(8) has hidden the hierarchies of cgroups: these are the same ones again.
if [ -e /sys/fs/cgroup/cgroup.controllers ] || ! mountpoint -q /sys/fs/cgroup/memory; then
  mount -t tmpfs cgroup /sys/fs/cgroup
  while read -r controller hierarchy _ enabled; do
    if [ "$hierarchy" != 0 ] && [ "$enabled" = 1 ]; then
      mkdir -p "/sys/fs/cgroup/$controller"
      mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller"
    fi
  done < <(tail -n +2 /proc/cgroups)
fi
for controller in /sys/fs/cgroup/*; do
  mkdir -p "$controller/lab-k8s-$name"
  if [ -e "$controller/cpuset.cpus" ]; then
    cat "$controller/cpuset.cpus" >"$controller/lab-k8s-$name/cpuset.cpus"
    cat "$controller/cpuset.mems" >"$controller/lab-k8s-$name/cpuset.mems"
  fi
done

until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
ip link set lo up
ip addr add "10.201.$number.2/24" dev eth0
ip link set eth0 up
ip route add default via "10.201.$number.1"
# Less specific than a pod's own: the address of one that has ended is unreachable, and does not go round.
ip route add unreachable "10.202.$number.0/24"
sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0

cat >/run/cni/10-ptp.conflist <<CNI
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "ptp", "ipMasq": false, "mtu": 1500, "ipam": {
  "type": "host-local", "ranges": [[{"subnet": "10.202.$number.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}],
  "dataDir": "/var/lib/cni/networks"}}]}
CNI
cat >/run/containerd/config.toml <<TOML
version = 2
root = "/run/containerd/root"
state = "/run/containerd/state"
[grpc]
address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "lab/pause:1"
restrict_oom_score_adj = true
disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "/run/cni"
TOML
containerd --config /run/containerd/config.toml >"$dir/$name-containerd.log" 2>&1 &
until ctr -a /run/containerd/containerd.sock version >/dev/null 2>&1; do sleep 0.1; done
for image in "$dir"/images/*.tar; do
  ctr -a /run/containerd/containerd.sock -n k8s.io images import "$image" >/dev/null
done

cat >/run/containerd/kubelet.yaml <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /lab-k8s-$name
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
clusterDNS: [10.203.0.10]
clusterDomain: cluster.local
failSwapOn: false
oomScoreAdj: 0
evictionHard: {memory.available: 10Mi}
imageGCHighThresholdPercent: 100
enforceNodeAllocatable: []
nodeStatusUpdateFrequency: 4s
YAML
"$bin/kubelet" --config=/run/containerd/kubelet.yaml --kubeconfig="$dir/kubeconfig" --hostname-override="$name" \
  --node-ip="10.201.$number.2" >"$dir/$name-kubelet.log" 2>&1 &
cat >/run/containerd/proxy.yaml <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: $dir/kubeconfig}
hostnameOverride: $name
mode: nftables
clusterCIDR: 10.202.0.0/16
conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
YAML
"$bin/kube-proxy" --config=/run/containerd/proxy.yaml >"$dir/$name-proxy.log" 2>&1 &
# It enforces the network policies. The node has to be known first.
until grep -q "Successfully registered node" "$dir/$name-kubelet.log"; do sleep 0.2; done
NODE_NAME=$name "$bin/kube-router" --kubeconfig="$dir/kubeconfig" --hostname-override="$name" --run-firewall=true \
  --run-router=false --run-service-proxy=false --run-loadbalancer=false --service-cluster-ip-range=10.203.0.0/24 \
  >"$dir/$name-router.log" 2>&1 &
wait -n
echo "a process of the node $name has ended" >&2
exit 1
