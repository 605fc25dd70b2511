//go:build e2e

package e2e

import (
	"sync"
	"testing"
	"time"

	"diagnostics/lab"
)

// What the worker's host lacks in the middle of a measurement is no loss and no silence of the target: all measurements
// under way end as this service's own fault, and right afterwards the answers are true again.
func TestMeasurementsOfAHostThatIsCutOff(t *testing.T) {
	for name, fault := range map[string]func(t *testing.T) (gone func()){
		"the link is down":    uplinkDown,
		"the cable is pulled": cablePulled,
	} {
		t.Run(name, func(t *testing.T) {
			clean, _ := lab.Clean(70)
			silent, _ := lab.SilentEnd(70)
			var asking sync.WaitGroup
			for slug, input := range map[string]string{
				"ping": clean.String(), "packet-loss": clean.String(), "traceroute": silent.String(),
			} {
				asking.Go(func() { holdOurs(t, slug, call(t, slug, input, nil)) })
			}
			time.Sleep(400 * time.Millisecond) // the middle of what takes two seconds: the moment is what is tested
			gone := fault(t)
			asking.Wait()
			gone()
			clean, _ = lab.Clean(71)
			facts{"lossPercent": 0, "received": 10}.hold(t, call(t, "ping", clean.String(), nil))
			facts{"reached": true}.hold(t, call(t, "traceroute", clean.String(), nil))
		})
	}
}
