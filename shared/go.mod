module diagnostics/shared

go 1.26.0

toolchain go1.26.11

require (
	code.dny.dev/ssrf v0.3.0
	go.uber.org/goleak v1.3.0
	golang.org/x/net v0.62.0
	golang.org/x/time v0.16.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)
