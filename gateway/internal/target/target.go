// Package target parses what a visitor typed into canonical values. It is pure: no name is looked up and no packet
// sent. Past this package nobody holds a raw string. Errors are *fault.Error: Invalid for a wrong format, Refused for a
// name or an address that the public-address rules refuse.
package target
