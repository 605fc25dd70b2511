package tlsprobe

import (
	"crypto/tls"
	"testing"
)

func TestScanGo(t *testing.T) {
	t.Parallel()
	server := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{certificate(t)}, MinVersion: tls.VersionTLS10})
	got := Scan{Dial: server.dial, ServerName: "example.com", AtOnce: 4}.Run(t.Context())
	for _, v := range Versions {
		if y := got.Versions[v]; y == nil { t.Log(v, "nil", got.Refusals[v]) } else { t.Log(v, *y, got.Refusals[v]) }
	}
	for _, s := range got.Suites { t.Log(s) }
	for _, s := range got.Groups { t.Log(GroupName(s)) }
	t.Log(got.Ordered, got.DHBits, got.Complete, server.came.Load())
}
