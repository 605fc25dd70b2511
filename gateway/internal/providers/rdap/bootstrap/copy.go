package bootstrap

import "embed"

// The copy is what README.md beside it says; make bootstrap fetches it anew.
//
//go:embed copy/*.json
var files embed.FS

// copied gives a file of the copy.
func copied(name string) []byte {
	body, err := files.ReadFile("copy/" + name)
	if err != nil {
		panic(err) // all names are those of builtIn
	}
	return body
}
