// Package target parses what a client typed into canonical values. It is pure: no name is looked up and no packet
// sent. No raw string is used past this package. Errors are *fault.Error: Invalid for a wrong format, Refused for a
// name or an address that the public-address rules refuse.
package target
