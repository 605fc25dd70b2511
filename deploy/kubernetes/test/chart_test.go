package kubernetes

import (
	"context"
	"encoding/base64"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"diagnostics/shared/netpolicy"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/pod-security-admission/api"
	security "k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// variants are the values of the matrix: each alone, and all combinations of two.
var variants = map[string]string{
	"defaults": "{}",
	"raw":      "worker: {mode: raw, namespace: probes}",
	"alone":    "{worker: {enabled: false}, redis: {enabled: false}}",
	"fixed":    "gateway: {autoscaling: {enabled: false}, replicas: 3}",
	"ingress":  "{public: {host: tools.example.com}, ingress: {enabled: true, className: nginx, tlsSecret: tls}}",
	"route": "{public: {host: tools.example.com, header: x-real-ip, proxies: [10.0.0.0/8]}, " +
		"httpRoute: {enabled: true, parentRefs: [{name: public, namespace: gateways}]}}",
	"balanced":   "gateway: {service: {type: LoadBalancer, annotations: {a: b}}}",
	"monitoring": "metrics: {serviceMonitor: true, prometheusRule: true, dashboard: true, labels: {release: p}}",
	"unmeasured": "metrics: {enabled: false}",
	"open":       "networkPolicy: {enabled: false}",
	"narrow": "networkPolicy: {visitors: [{podSelector: {matchLabels: {app: proxy}}}], gatewayEgress: " +
		"[{to: [{ipBlock: {cidr: 10.0.0.5/32}}], ports: [{port: 6379}]}]}",
	"external": "{redis: {enabled: false, url: 'rediss://redis.example.com:6380'}, secrets: {existing: mine}}",
	"place": "place: {id: fra, name: Frankfurt, peer: {enabled: true, secret: peer, from: [192.0.2.7/32]}, " +
		"secret: others, others: [{id: nyc, name: New York, url: 'https://nyc.example.net:8443'}]}",
	"placed": "{nameOverride: tools, imagePullSecrets: [{name: r}], gateway: {nodeSelector: {a: b}, " +
		"tolerations: [{operator: Exists}], affinity: {podAntiAffinity: {}}, priorityClassName: high, " +
		"podAnnotations: {a: b}, env: [{name: SSL_CERT_DIR, value: /certs}], files: {deny-targets: '10.1.0.0/16'}, " +
		"autoscaling: {runsInFlight: 100}, volumes: [{name: certs, emptyDir: {}}], " +
		"volumeMounts: [{name: certs, mountPath: /certs}]}, worker: {replicas: 2, podAnnotations: {a: b}, " +
		"settings: {WORKER_TLS_CERT_FILE: /tls/tls.crt, WORKER_TLS_KEY_FILE: /tls/tls.key}, " +
		"volumes: [{name: tls, secret: {secretName: tls}}], volumeMounts: [{name: tls, mountPath: /tls}]}}",
}

// Each object of each combination is one of Kubernetes', has a valid name, and selects what it is meant for; no pod
// asks for more than its Pod Security Standard allows.
func TestMatrix(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(variants))
	for i, first := range names {
		for _, second := range names[i:] {
			t.Run(first+" "+second, func(t *testing.T) {
				t.Parallel()
				raw := first == "raw" || second == "raw"
				// The external Redis is in place of the bundled one.
				o := mustRender(t, variants[first], variants[second])
				for key, object := range o {
					checkLabels(t, key, object)
					if d, ok := object.(*apps.Deployment); ok {
						checkPod(t, key, d, raw)
					}
				}
				checkServices(t, o)
			})
		}
	}
}

func checkLabels(t *testing.T, key string, object meta.Object) {
	t.Helper()
	for _, name := range []string{"name", "instance", "component", "version", "managed-by"} {
		if object.GetLabels()["app.kubernetes.io/"+name] == "" {
			t.Errorf("%s has no label %s", key, name)
		}
	}
	if len(object.GetName()) > 63 {
		t.Errorf("%s has too long a name", key)
	}
}

func checkPod(t *testing.T, key string, d *apps.Deployment, raw bool) {
	t.Helper()
	selector, err := meta.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil || !selector.Matches(labels.Set(d.Spec.Template.Labels)) {
		t.Errorf("%s does not select its pods (%v)", key, err)
	}
	spec := &d.Spec.Template.Spec
	if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
		t.Errorf("%s mounts a token", key)
	}
	want := api.LevelRestricted
	if raw && d.Labels["app.kubernetes.io/component"] == "worker" {
		want = api.LevelPrivileged
	}
	if got := strictestLevel(t, d.Spec.Template); got != want {
		t.Errorf("%s: Pod Security Standard %s, want %s", key, got, want)
	}
	volumes := map[string]bool{}
	for _, v := range spec.Volumes {
		volumes[v.Name] = true
	}
	for _, m := range spec.Containers[0].VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("%s mounts a volume %s that it has not", key, m.Name)
		}
	}
}

// strictestLevel is the narrowest standard that the pod meets, as the admission of Kubernetes judges it.
func strictestLevel(t *testing.T, pod core.PodTemplateSpec) api.Level {
	t.Helper()
	evaluator, err := security.NewEvaluator(security.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []api.Level{api.LevelRestricted, api.LevelBaseline} {
		version := api.LevelVersion{Level: level, Version: api.LatestVersion()}
		results := evaluator.EvaluatePod(version, &pod.ObjectMeta, &pod.Spec)
		allowed := true
		for _, r := range results {
			allowed = allowed && r.Allowed
		}
		if allowed {
			return level
		}
	}
	return api.LevelPrivileged
}

// Every Service selects the pods of exactly one Deployment, which has the port that it names; so does every network
// policy.
func checkServices(t *testing.T, o objects) {
	t.Helper()
	for key, object := range o {
		switch object := object.(type) {
		case *core.Service:
			d := o.only(t, key, object.Namespace, object.Spec.Selector)
			for _, p := range object.Spec.Ports {
				if !slices.ContainsFunc(d.Spec.Template.Spec.Containers[0].Ports, func(c core.ContainerPort) bool {
					return c.Name == p.TargetPort.StrVal
				}) {
					t.Errorf("%s leads to a port %s that %s has not", key, p.TargetPort.StrVal, d.Name)
				}
			}
		case *networking.NetworkPolicy:
			o.only(t, key, object.Namespace, object.Spec.PodSelector.MatchLabels)
		}
	}
}

// only is the one Deployment of a namespace whose pods have the labels.
func (o objects) only(t *testing.T, key, namespace string, want map[string]string) *apps.Deployment {
	t.Helper()
	var found []*apps.Deployment
	for _, object := range o {
		d, ok := object.(*apps.Deployment)
		if ok && d.Namespace == namespace && labels.SelectorFromSet(want).Matches(labels.Set(d.Spec.Template.Labels)) {
			found = append(found, d)
		}
	}
	if len(want) == 0 || len(found) != 1 {
		t.Fatalf("%s selects %d deployments", key, len(found))
	}
	return found[0]
}

func TestLint(t *testing.T) {
	t.Parallel()
	values, err := chartutil.ReadValues([]byte(networks))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range lint.AllWithKubeVersion(chartPath, values, "tools", nil).Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
}

// What is left empty could be reached through the service.
func TestRefusedValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, values, wants string }{
		{"no networks", "{}", "networks.nodes, networks.loadBalancers, networks.pods, networks.services"},
		{"one is empty", networks + "  loadBalancers: []", "networks.loadBalancers: empty"},
		{"one is null", networks + "  services: null", "networks.services: empty"},
		{"one is empty, and allowed", networks + "  loadBalancers: []\n  allowEmpty: true", ""},
		{"all are empty, and allowed", "networks: {allowEmpty: true}", ""},
		{"ingress without a name", networks + "ingress: {enabled: true}", "public.host"},
		{"route without a name", networks + "httpRoute: {enabled: true}", "public.host"},
		{"trust without a network", "{networks: {allowEmpty: true}, public: {host: a.example.com}}", "public.proxies"},
		{"place without a token", networks + "place: {peer: {enabled: true, from: [192.0.2.7/32]}}", "place.peer.secret: empty"},
		{"place open to all", networks + "place: {peer: {enabled: true, secret: peer}}", "place.peer.from: empty"},
		{"place open to null", networks + "place: {peer: {enabled: true, secret: peer, from: null}}", "place.peer.from: empty"},
		{"place open to no address", networks + "place: {peer: {enabled: true, secret: peer, from: ['']}}", "/place/peer/from/0"},
		{"place open to a name", networks + "place: {peer: {enabled: true, secret: peer, from: [a.example]}}", "/place/peer/from/0"},
		{"place open to an address", networks + "place: {peer: {enabled: true, secret: peer, from: [192.0.2.7]}}", "/place/peer/from/0"},
		{"place open to IPv6", networks + "place: {peer: {enabled: true, secret: peer, from: ['2001:db8::/32']}}", ""},
		{"no place", networks + "place: {peer: {enabled: false}}", ""},
		{"two Redis", networks + "redis: {url: 'redis://a:6379'}", "redis.url"},
		{"unknown value", networks + "gatway: {}", "gatway"},
		{"unknown setting", networks + "gateway: {settings: {RATE_LIMIT_REQUEST: 1}}", "RATE_LIMIT_REQUEST"},
		{"secret among settings", networks + "worker: {settings: {DIAGNOSTICS_WORKER_TOKEN: a}}", "DIAGNOSTICS_WORKER_TOKEN"},
		{"setting of the other", networks + "worker: {settings: {RATE_LIMIT_REQUESTS: 1}}", "RATE_LIMIT_REQUESTS"},
		{"unknown mode", networks + "worker: {mode: privileged}", "mode"},
		{"memory of another unit", networks + "gateway: {resources: {limits: {memory: 1G}}}", "memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := render(t, c.values)
			if c.wants == "" && err != nil {
				t.Fatal(err)
			}
			if c.wants != "" && (err == nil || !strings.Contains(err.Error(), c.wants)) {
				t.Errorf("error %v, want one about %s", err, c.wants)
			}
		})
	}
}

// Every setting that docs/settings.md has, which is generated from the code, reaches the container.
func TestEverySettingIsReachable(t *testing.T) {
	t.Parallel()
	for _, component := range []string{"gateway", "worker"} {
		settings := settingsOf(t, component)
		if len(settings) < 15 {
			t.Fatalf("the %s has %d settings", component, len(settings))
		}
		want := map[string]string{}
		for name := range settings {
			want[name] = "value of " + name
		}
		values, err := yaml.Marshal(map[string]any{component: map[string]any{"settings": want}})
		if err != nil {
			t.Fatal(err)
		}
		got := mustRender(t, string(values)).environment(t, component)
		for name, value := range want {
			if got[name] != value && !strings.HasSuffix(got[name], ","+value) {
				t.Errorf("%s: %s is %q, want %q", component, name, got[name], value)
			}
		}
	}
}

// What the chart itself sets.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ component, name, values, want string }{
		{"gateway", "HOST_ADDRESSES", "{}",
			"192.0.2.10/32,2001:db8::10/128,198.51.100.0/28,10.244.0.0/16,2600:1234::/56,10.96.0.0/12"},
		{"gateway", "DENY_TARGETS", "gateway: {settings: {DENY_TARGETS: example.org}}", "cluster.local,example.org"},
		{"gateway", "DIAGNOSTICS_WORKER_URL", "{}", "http://d-network-diagnostics-worker:8081"},
		{"gateway", "DIAGNOSTICS_WORKER_URL", variants["raw"], "http://d-network-diagnostics-worker.probes:8081"},
		{"gateway", "DIAGNOSTICS_WORKER_URL", variants["alone"], ""},
		{"gateway", "RATE_LIMIT_REDIS_URL", "{}", "redis://d-network-diagnostics-redis:6379"},
		{"gateway", "RATE_LIMIT_REDIS_URL", variants["external"], "rediss://redis.example.com:6380"},
		{"gateway", "RATE_LIMIT_REDIS_URL", variants["alone"], ""},
		{"gateway", "GOMEMLIMIT", "{}", "448MiB"},
		{"gateway", "GOMEMLIMIT", "gateway: {resources: {limits: {memory: 2Gi}}}", "1792MiB"},
		{"gateway", "TRUST_PROXY_HEADERS", "{}", ""},
		{"gateway", "TRUST_PROXY_HEADERS", variants["ingress"], "true"},
		{"gateway", "TRUSTED_PROXY_CIDRS", variants["ingress"], "10.244.0.0/16,2600:1234::/56"},
		{"gateway", "TRUSTED_PROXY_CIDRS", variants["route"], "10.0.0.0/8"},
		{"gateway", "CLIENT_ADDRESS_HEADER", variants["ingress"], "x-forwarded-for"},
		{"gateway", "CLIENT_ADDRESS_HEADER", variants["route"], "x-real-ip"},
		{"gateway", "PUBLIC_ORIGIN", variants["ingress"], "https://tools.example.com"},
		{"gateway", "PLACES_FILE", variants["place"], "/etc/diagnostics/lists/places.json"},
		{"gateway", "SHUTDOWN_DELAY", "gateway: {settings: {SHUTDOWN_DELAY: 9s}}", "9s"},
		{"gateway", "RATE_LIMIT_REQUESTS", "gateway: {settings: {RATE_LIMIT_REQUESTS: 1000000}}", "1000000"},
		{"worker", "RUN_AS_UID", "{}", ""},
		{"worker", "RUN_AS_UID", "worker: {mode: raw}", "65531"},
	} {
		if got := mustRender(t, c.values).environment(t, c.component)[c.name]; got != c.want {
			t.Errorf("%s of the %s with %s: %q, want %q", c.name, c.component, c.values, got, c.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	o := mustRender(t, variants["place"])
	lists := find[*core.ConfigMap](t, o, "ConfigMap d-network-diagnostics-lists")
	want := `[{"caFile":"/etc/diagnostics/places/nyc-cert.pem","id":"nyc","name":"New York",` +
		`"tokenFile":"/etc/diagnostics/places/nyc-token","url":"https://nyc.example.net:8443"}]`
	if got := lists.Data["places.json"]; got != want {
		t.Errorf("places.json: %s, want %s", got, want)
	}
	peer := find[*core.Service](t, o, "Service d-network-diagnostics-peer")
	if got := peer.Spec.LoadBalancerSourceRanges; !slices.Equal(got, []string{"192.0.2.7/32"}) {
		t.Errorf("the peer listener is open to %v", got)
	}
}

// A Secret is made once; upgrades keep it, whatever part of it the operator has replaced.
func TestSecretsAreKept(t *testing.T) {
	t.Parallel()
	encode := base64.StdEncoding.EncodeToString
	const namespaced, secret = "worker: {namespace: probes}", "Secret d-network-diagnostics"
	first := find[*core.Secret](t, mustRender(t), secret)
	second := find[*core.Secret](t, mustRender(t), secret)
	for _, key := range []string{"worker-token", "redis-password"} {
		if len(first.Data[key]) != 48 || string(first.Data[key]) == string(second.Data[key]) {
			t.Errorf("%s: %q, then %q", key, first.Data[key], second.Data[key])
		}
	}
	if first.Annotations["helm.sh/resource-policy"] != "keep" {
		t.Error("uninstalling removes the secret")
	}
	cluster := cluster{object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": "d-network-diagnostics", "namespace": "tools"},
		"data":     map[string]any{"worker-token": encode([]byte("old-token"))},
	}}}
	o := cluster.render(t, networks, namespaced)
	kept, copied := find[*core.Secret](t, o, secret), find[*core.Secret](t, o, secret+" in probes")
	if string(kept.Data["worker-token"]) != "old-token" || len(kept.Data["redis-password"]) != 48 {
		t.Errorf("after the upgrade: %q", kept.Data)
	}
	if string(copied.Data["worker-token"]) != "old-token" || len(copied.Data) != 1 {
		t.Errorf("the worker's namespace has %q", copied.Data)
	}
}

// cluster is what a chart's lookup finds: one object, whatever it asks for in that object's namespace.
type cluster struct {
	dynamic.NamespaceableResourceInterface
	object *unstructured.Unstructured
}

func (c cluster) GetClientFor(_, _ string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return c, true, nil
}

func (c cluster) Namespace(string) dynamic.ResourceInterface { return c }

// Get is that of the interface.
func (c cluster) Get(
	_ context.Context, name string, _ meta.GetOptions, _ ...string,
) (*unstructured.Unstructured, error) {
	if name != c.object.GetName() {
		return nil, errors.NewNotFound(schema.GroupResource{}, name)
	}
	return c.object, nil
}

func (c cluster) render(t *testing.T, values ...string) objects {
	t.Helper()
	chart, all := load(t), map[string]any{}
	for _, v := range values {
		layer, err := chartutil.ReadValues([]byte(v))
		if err != nil {
			t.Fatal(err)
		}
		all = chartutil.CoalesceTables(layer, all)
	}
	release := chartutil.ReleaseOptions{Name: "d", Namespace: "tools", Revision: 2, IsUpgrade: true}
	top, err := chartutil.ToRenderValues(chart, all, release, chartutil.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.RenderWithClientProvider(chart, top, c)
	if err != nil {
		t.Fatal(err)
	}
	o, err := decode(files)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// What netpolicy refuses, and the networks of the cluster, are outside of what pods may reach.
func TestNetworkPolicies(t *testing.T) {
	t.Parallel()
	o := mustRender(t, "worker: {replicas: 1}")
	for _, component := range []string{"gateway", "worker", "redis"} {
		p := find[*networking.NetworkPolicy](t, o, "NetworkPolicy d-network-diagnostics-"+component)
		if !slices.Equal(p.Spec.PolicyTypes, []networking.PolicyType{"Ingress", "Egress"}) {
			t.Errorf("%s: %v", component, p.Spec.PolicyTypes)
		}
		reach := reachOf(t, p.Spec.Egress)
		for _, row := range netpolicy.Rows() {
			for _, a := range []string{row.Prefix.Addr().String(), netpolicy.LastOf(row.Prefix).String()} {
				if !row.Public() && reach.contains(a) {
					t.Errorf("the %s may reach %s, of %s", component, a, row.Name)
				}
			}
		}
		for _, a := range []string{"169.254.169.254", "fd00:ec2::254", "192.0.2.10", "198.51.100.1", "10.244.3.3",
			"2600:1234::1", "10.96.0.1"} {
			if reach.contains(a) {
				t.Errorf("the %s may reach %s", component, a)
			}
		}
		for _, a := range []string{"9.9.9.9", "2620:fe::fe"} {
			if reach.contains(a) != (component != "redis") {
				t.Errorf("the %s may reach %s: %t", component, a, reach.contains(a))
			}
		}
	}
	worker := find[*networking.NetworkPolicy](t, o, "NetworkPolicy d-network-diagnostics-worker")
	if len(worker.Spec.Egress) != 1 {
		t.Errorf("the worker has %d rules of egress, want the one for the internet", len(worker.Spec.Egress))
	}
}

// The alerts and the dashboard are those of deploy/monitoring, and the jobs have the names that they select.
func TestMonitoring(t *testing.T) {
	t.Parallel()
	o := mustRender(t, variants["monitoring"])
	text, err := os.ReadFile(filepath.Join("..", "..", "monitoring", "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var want monitoring.PrometheusRuleSpec
	if err := yaml.UnmarshalStrict(text, &want); err != nil {
		t.Fatal(err)
	}
	rule := find[*monitoring.PrometheusRule](t, o, "PrometheusRule d-network-diagnostics-monitoring")
	if got, _ := yaml.Marshal(rule.Spec); len(want.Groups) == 0 || string(got) != string(mustMarshal(t, want)) {
		t.Errorf("the alerts differ from those of deploy/monitoring:\n%s", got)
	}
	dashboard, err := os.ReadFile(filepath.Join("..", "..", "monitoring", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	shown := find[*core.ConfigMap](t, o, "ConfigMap d-network-diagnostics-monitoring").Data["network-diagnostics.json"]
	if shown != string(dashboard) {
		t.Error("the dashboard differs from that of deploy/monitoring")
	}
	monitor := find[*monitoring.ServiceMonitor](t, o, "ServiceMonitor d-network-diagnostics-monitoring")
	var jobs []string
	for _, object := range o {
		s, ok := object.(*core.Service)
		if ok && labels.SelectorFromSet(monitor.Spec.Selector.MatchLabels).Matches(labels.Set(s.Labels)) {
			jobs = append(jobs, s.Labels[monitor.Spec.JobLabel])
		}
	}
	if slices.Sort(jobs); !slices.Equal(jobs, []string{"gateway", "worker"}) {
		t.Errorf("jobs %q", jobs)
	}
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	out, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
