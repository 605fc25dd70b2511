package daemon

import "runtime/debug"

// version is set by the linker: -ldflags "-X diagnostics/daemon.version=…".
var version string

// Version is the service's version; where the linker gave none, what the toolchain stamped into the binary, else devel.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
