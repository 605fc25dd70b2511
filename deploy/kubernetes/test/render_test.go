package kubernetes

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

// kinds are the types of all objects that the chart may have.
var kinds = map[string]func() meta.Object{
	"v1 ConfigMap":                            func() meta.Object { return new(core.ConfigMap) },
	"v1 Secret":                               func() meta.Object { return new(core.Secret) },
	"v1 Service":                              func() meta.Object { return new(core.Service) },
	"v1 ServiceAccount":                       func() meta.Object { return new(core.ServiceAccount) },
	"apps/v1 Deployment":                      func() meta.Object { return new(apps.Deployment) },
	"autoscaling/v2 HorizontalPodAutoscaler":  func() meta.Object { return new(autoscaling.HorizontalPodAutoscaler) },
	"networking.k8s.io/v1 Ingress":            func() meta.Object { return new(networking.Ingress) },
	"networking.k8s.io/v1 NetworkPolicy":      func() meta.Object { return new(networking.NetworkPolicy) },
	"policy/v1 PodDisruptionBudget":           func() meta.Object { return new(policy.PodDisruptionBudget) },
	"gateway.networking.k8s.io/v1 HTTPRoute":  func() meta.Object { return new(gateway.HTTPRoute) },
	"monitoring.coreos.com/v1 ServiceMonitor": func() meta.Object { return new(monitoring.ServiceMonitor) },
	"monitoring.coreos.com/v1 PrometheusRule": func() meta.Object { return new(monitoring.PrometheusRule) },
}

// networks are values without which the chart fails.
const networks = `
networks:
  nodes: [192.0.2.10, "2001:db8::10"]
  loadBalancers: [198.51.100.0/28]
  pods: [10.244.0.0/16, "2600:1234::/56"]
  services: [10.96.0.0/12]
`

// objects are what a release has, by kind and name ("Deployment d-network-diagnostics-gateway").
type objects map[string]meta.Object

// render is helm template: values are YAML, each laid over those before it.
func render(t *testing.T, values ...string) (objects, error) {
	t.Helper()
	all := map[string]any{}
	for _, v := range values {
		layer, err := chartutil.ReadValues([]byte(v))
		if err != nil {
			t.Fatal(err)
		}
		all = chartutil.CoalesceTables(layer, all)
	}
	c := load(t)
	release := chartutil.ReleaseOptions{Name: "d", Namespace: "tools", Revision: 1, IsInstall: true}
	// It validates the values by the schema.
	top, err := chartutil.ToRenderValues(c, all, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := (engine.Engine{Strict: true}).Render(c, top)
	if err != nil {
		return nil, err
	}
	return decode(files)
}

func mustRender(t *testing.T, values ...string) objects {
	t.Helper()
	o, err := render(t, append([]string{networks}, values...)...)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// decode rejects fields that the types do not have, duplicate keys and duplicate objects.
func decode(files map[string]string) (objects, error) {
	all := objects{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		documents := yamlstream.NewYAMLReader(bufio.NewReader(strings.NewReader(files[name])))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if err := all.add(document); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", name, err, document)
			}
		}
	}
	return all, nil
}

func (o objects) add(document []byte) error {
	if len(bytes.TrimSpace(document)) == 0 {
		return nil
	}
	var kind meta.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return err
	}
	if kind.Kind == "" {
		return nil // comments
	}
	construct := kinds[kind.APIVersion+" "+kind.Kind]
	if construct == nil {
		return fmt.Errorf("%s %s is none of the kinds", kind.APIVersion, kind.Kind)
	}
	object := construct()
	if err := yaml.UnmarshalStrict(document, object); err != nil {
		return err
	}
	key := kind.Kind + " " + object.GetName()
	if object.GetNamespace() != "tools" {
		key += " in " + object.GetNamespace()
	}
	if o[key] != nil {
		return fmt.Errorf("%s is there twice", key)
	}
	o[key] = object
	return nil
}

// find is the object of the type and name.
func find[T meta.Object](t *testing.T, o objects, key string) T {
	t.Helper()
	object, ok := o[key].(T)
	if !ok {
		t.Fatalf("no %s; there are %q", key, slices.Sorted(maps.Keys(o)))
	}
	return object
}

// pod is the template of a component's Deployment.
func (o objects) pod(t *testing.T, component string) core.PodTemplateSpec {
	t.Helper()
	return find[*apps.Deployment](t, o, "Deployment d-network-diagnostics-"+component).Spec.Template
}

// environment is that of a component's container.
func (o objects) environment(t *testing.T, component string) map[string]string {
	t.Helper()
	env := map[string]string{}
	for _, v := range o.pod(t, component).Spec.Containers[0].Env {
		if _, twice := env[v.Name]; twice {
			t.Errorf("%s is there twice", v.Name)
		}
		env[v.Name] = v.Value
	}
	return env
}
