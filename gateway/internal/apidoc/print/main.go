// Print writes the API's description to standard output, from which `make lint` makes the types of the pages' modules.
package main

import (
	"log"
	"os"
	"time"

	"diagnostics/gateway/internal/apidoc/openapi"
	"diagnostics/gateway/internal/tools"
)

func main() {
	text, err := openapi.Document(tools.All(tools.Deps{Now: time.Now}))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.WriteString(text); err != nil {
		log.Fatal(err)
	}
}
