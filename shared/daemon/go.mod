module diagnostics/daemon

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/kelseyhightower/envconfig v1.4.0
	go.uber.org/goleak v1.3.0
	golang.org/x/sys v0.49.0
)
