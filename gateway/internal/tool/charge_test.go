package tool

import (
	"context"
	"errors"
	"testing"
)

func TestChargeTarget(t *testing.T) {
	t.Parallel()
	if err := ChargeTarget(t.Context(), 9); err != nil {
		t.Errorf("without a charge: %v", err)
	}
	refused := errors.New("refused")
	charged := 0
	ctx := WithCharge(t.Context(), func(_ context.Context, n int) error {
		charged += n
		return refused
	})
	// Work that several runs share has the values of the run that began it.
	if err := ChargeTarget(context.WithoutCancel(ctx), 9); !errors.Is(err, refused) || charged != 9 {
		t.Errorf("%v, charged %d", err, charged)
	}
}
