module diagnostics/lab

go 1.26

require diagnostics/shared v0.0.0

replace diagnostics/shared => ../../shared
