module diagnostics/hostroute

go 1.26.0

toolchain go1.26.11

require golang.org/x/sys v0.50.0

require go.uber.org/goleak v1.3.0
