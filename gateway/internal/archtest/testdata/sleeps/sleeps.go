package sleeps

import (
	"testing"
	"testing/synctest"
	"time"
)

func guilty(began time.Time) {
	time.Sleep(time.Second)
	if took := time.Since(began); took > time.Second {
		return
	}
	if time.Since(began) > time.Second {
		return
	}
}

func innocent(t *testing.T, began time.Time) {
	time.Sleep(time.Second) // a reason
	// A reason.
	if time.Since(began) > time.Second {
		return
	}
	bubble(t, func() { time.Sleep(time.Second) })
	synctest.Test(t, func(*testing.T) { time.Sleep(time.Second) })
	_ = time.Since(began)
}

func bubble(t *testing.T, f func()) {
	synctest.Test(t, func(*testing.T) { f() })
}
