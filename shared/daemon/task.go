package daemon

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Task is what the command line asks a service for.
type Task int

// The tasks. TaskNone is a command line that has had its answer, or is at fault.
const (
	TaskNone Task = iota
	TaskServe
	TaskHealthcheck
)

// ParseArgs reads the command line of a service; it answers -version and -h itself.
func ParseArgs(name string, args []string, stdout, stderr io.Writer) (Task, error) {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	showVersion := flags.Bool("version", false, "print the version and exit")
	healthcheck := flags.Bool("healthcheck", false, "ask the running "+name+"'s /healthz and exit")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return TaskNone, nil
	case err != nil:
		return TaskNone, err
	case flags.NArg() > 0:
		return TaskNone, errors.New("takes no arguments; it is set by the environment")
	case *showVersion:
		fmt.Fprintln(stdout, name, Version())
		return TaskNone, nil
	case *healthcheck:
		return TaskHealthcheck, nil
	}
	return TaskServe, nil
}
