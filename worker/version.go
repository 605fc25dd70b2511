package main

import "runtime/debug"

// version is set by the linker: -ldflags "-X main.version=…".
var version string

// buildVersion falls back on what the toolchain stamped into the binary.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
