package redistest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// driverDials is how long the driver may go on with a dial in the background after its client was closed: its dial
// timeout, of a second, five times.
const driverDials = 5 * time.Second

// Main runs the tests and then looks for goroutines that they left behind. The driver does not cancel the dials that a
// pool has under way when it is closed, so these get their time to end; whatever stays longer is a leak.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		code = leaks(time.Now().Add(driverDials))
	}
	os.Exit(code)
}

func leaks(deadline time.Time) int {
	for {
		err := goleak.Find()
		if err == nil {
			return 0
		}
		if time.Now().After(deadline) {
			fmt.Fprintln(os.Stderr, "left behind:", err)
			return 1
		}
	}
}
