// Package weighttest measures the figures of package weight.
package weighttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/weight"
)

// Case is work, with the input that costs the most.
type Case struct {
	Name string
	// Cost is that of Do by the table.
	Cost time.Duration
	Do   func()
}

// Bytes returns the case of reading an input.
func Bytes(name string, w weight.Work, input []byte, read func([]byte)) Case {
	return Case{name, w.Of(len(input)), func() { read(input) }}
}

// Benchmark measures each case and reports its processor time, on a core on which P256 takes as long as the table says,
// beside the table's.
func Benchmark(b *testing.B, cases ...Case) {
	for _, c := range cases {
		b.Run(c.Name, func(b *testing.B) {
			scale := float64(weight.P256.Cost) / perCall(b, verification(b), 10*time.Millisecond)
			b.ReportMetric(0, "ns/op")
			began := used(b)
			for b.Loop() {
				c.Do()
			}
			b.ReportMetric(scale*float64(used(b)-began)/float64(b.N)/1e3, "µs-measured")
			b.ReportMetric(float64(c.Cost)/1e3, "µs-table")
		})
	}
}

// Test fails if a case costs more than most times what the table says. The least of several tries counts, each compared
// with a verification at the same time: other programs, and slow machines, slow both.
func Test(t *testing.T, most float64, cases ...Case) {
	t.Helper()
	verify := verification(t)
	for _, c := range cases {
		least := 0.0
		for try := 0; try < 4 || try < 40 && least > most; try++ {
			scale := float64(weight.P256.Cost) / perCall(t, verify, 5*time.Millisecond)
			ratio := scale * perCall(t, c.Do, 5*time.Millisecond) / float64(c.Cost)
			if least == 0 || ratio < least {
				least = ratio
			}
		}
		t.Logf("%s: %.2f of the table's %v", c.Name, least, c.Cost)
		if least > most {
			t.Errorf("%s costs %.1f times what the table says", c.Name, least)
		}
	}
}

// verification returns a verification by P-256.
func verification(tb testing.TB) func() {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	digest := sha256.Sum256(nil)
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		tb.Fatal(err)
	}
	return func() { ecdsa.VerifyASN1(&key.PublicKey, digest[:], signature) }
}

// perCall calls a function for at least so much processor time, and returns that of one call in nanoseconds.
func perCall(tb testing.TB, call func(), least time.Duration) float64 {
	tb.Helper()
	calls, began := 0, used(tb)
	for {
		call()
		calls++
		if took := used(tb) - began; took >= least {
			return float64(took) / float64(calls)
		}
	}
}

// used returns the processor time of this process, to microseconds.
func used(tb testing.TB) time.Duration {
	tb.Helper()
	var now syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &now); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(now.Utime.Nano() + now.Stime.Nano())
}
