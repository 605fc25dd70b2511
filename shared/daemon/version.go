package daemon

import "runtime/debug"

// These are set by the linker: -ldflags "-X diagnostics/daemon.version=… -X diagnostics/daemon.commit=…".
var version, commit string

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

// Commit is the commit that the service was built from; where the linker gave none, what the toolchain stamped into the
// binary, else unknown.
func Commit() string {
	if commit != "" {
		return commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
