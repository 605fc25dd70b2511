package httpheaders

import (
	"net/http"
	"testing"
	"time"

	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

// TestStagesCarryWhatIsKnown: while a server is silent, its address and the phases until then are known, and when it is
// given up.
func TestStagesCarryWhatIsKnown(t *testing.T) {
	t.Parallel()
	n, ca := toolstest.WebNetwork(t), toolstest.NewAuthority(t)
	answer := make(chan struct{})
	for _, at := range []string{toolstest.WebV4 + ":443", "[" + toolstest.WebV6 + "]:443"} {
		n.ServeTLS(at, ca.Issue("example.com", time.Now().Add(time.Hour)),
			http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-answer }))
	}
	feed, began := new(progress.Feed), time.Now()
	running := parallel.Start(func() error {
		_, err := toolstest.Run(progress.With(t.Context(), feed), New(n.Client(nil, ca.Option())),
			toolstest.URLInput("https://example.com/"))
		return err
	})
	for position := uint64(0); ; {
		step, next, ok, changed := feed.Next(position)
		position = next
		if !ok {
			<-changed
			continue
		}
		if step.Kind != progress.KindStage || step.Value != progress.Waiting {
			continue
		}
		k := step.Known
		if limit := step.Until.Sub(began); k.Address != toolstest.WebV4 && k.Address != toolstest.WebV6 || k.DNSMs <= 0 ||
			k.ConnectMs <= 0 || k.TLSMs <= 0 || limit < 8*time.Second || limit > 9*time.Second {
			t.Errorf("%+v, given up after %v", k, limit)
		}
		break
	}
	close(answer)
	if err := running.Wait(); err != nil {
		t.Error(err)
	}
}
