module diagnostics/lab

go 1.26.0

require (
	github.com/miekg/dns v1.1.73
	golang.org/x/sys v0.49.0
)

require golang.org/x/net v0.62.0 // indirect

replace diagnostics/shared => ../../shared
