//go:build !race

package weighttest

// Race reports that the race detector, which slows parsers and not cryptography, is on.
const Race = false
