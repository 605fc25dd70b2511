// Command internet serves the lab's web and mail servers, registries and resolvers from one container, for the tests of
// docker-compose.yml (package compose). The container gets its addresses and routes from outside.
//
//	internet DIR    serves, with the certificate of the root in DIR/root.pem
//	internet        only keeps the container, as a router between others
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"diagnostics/lab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "internet:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		if _, err := lab.Here(ctx, args[0]); err != nil {
			return err
		}
		fmt.Println("serving")
	}
	<-ctx.Done()
	return nil
}
