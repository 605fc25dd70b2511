package places

import (
	"reflect"
	"testing"

	"diagnostics/gateway/internal/remote"
)

type embedded struct{ Whom string }

// A step may embed a struct of an unexported type.
func TestHideInEmbedded(t *testing.T) {
	t.Parallel()
	step := struct {
		embedded
		Text string
	}{embedded{"the router 10.20.3.2"}, "10.20.3.2"}
	hide(remote.Inside{}, reflect.ValueOf(&step))
	if step.Whom == "the router 10.20.3.2" || step.Text == "10.20.3.2" {
		t.Errorf("%+v", step)
	}
}
