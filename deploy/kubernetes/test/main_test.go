// Package kubernetes renders the chart with Helm's own engine over a matrix of values, and holds the objects against
// the types of Kubernetes and its Pod Security Standards. It also generates what the chart has from elsewhere.
package kubernetes

import (
	"flag"
	"io"
	"log"
	"testing"

	"go.uber.org/goleak"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
)

const chartPath = "../network-diagnostics"

var update = flag.Bool("update", false, "rewrite the generated files of the chart")

func TestMain(m *testing.M) {
	// The loader logs each symbolic link that it follows.
	log.SetOutput(io.Discard)
	goleak.VerifyTestMain(m)
}

// load reads the chart as helm install does, symbolic links included.
func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.LoadDir(chartPath)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
