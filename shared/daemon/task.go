package daemon

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"

	"diagnostics/daemon/settings"
)

// Task is the action that the command line selects.
type Task int

// The tasks. TaskNone is a command line that has had its answer, or is at fault.
const (
	TaskNone Task = iota
	TaskServe
	TaskHealthcheck
	TaskInitSecrets
	// TaskCheckConfig is to read all settings and the files that they name, to print the warnings of a start, and to
	// create and serve nothing.
	TaskCheckConfig
	// TaskProbe is to print when the certificate of the public address expires.
	TaskProbe
	// TaskExtra is the service's own.
	TaskExtra
)

// Command is the command line of a service.
type Command struct {
	Name     string
	Settings []settings.Setting
	// Beside are variables that are no settings though they resemble some.
	Beside []string
	// Extra is the flag of one more task, ExtraDoc its line of help; empty is none.
	Extra, ExtraDoc string
	// Probe receives the URL of -probe, which a service without a public address does not have: nil.
	Probe *string
}

// Parse reads the command line; it answers -version and -help itself.
func (c Command) Parse(args []string, stdout, stderr io.Writer) (Task, error) {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	showVersion := flags.Bool("version", false, "print the version and exit")
	healthcheck := flags.Bool("healthcheck", false, "ask the running "+c.Name+"'s /healthz and exit")
	initSecrets := flags.Bool("init-secrets", false,
		"create the secrets that ..._FILE settings name, where they are missing, and exit")
	checkConfig := flags.Bool("check-config", false, "read the settings and the files that they name, print what a start "+
		"would warn of, and exit with 0, or with 1 if it would fail")
	extra := new(bool)
	if c.Extra != "" {
		extra = flags.Bool(c.Extra, false, c.ExtraDoc)
	}
	if c.Probe != nil {
		flags.StringVar(c.Probe, "probe", "",
			"print when the certificate of this https `URL` expires, for Prometheus, and exit")
	}
	flags.Usage = func() { c.help(flags, stderr) }
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return TaskNone, nil
	case err != nil:
		return TaskNone, err
	case flags.NArg() > 0:
		return TaskNone, errors.New("takes no arguments; settings come from the environment")
	case *showVersion:
		fmt.Fprintf(stdout, "%s %s (commit %s)\n", c.Name, Version(), Commit())
		return TaskNone, nil
	case *healthcheck:
		return TaskHealthcheck, nil
	case *initSecrets:
		return TaskInitSecrets, nil
	case *checkConfig:
		return TaskCheckConfig, nil
	case c.Probe != nil && *c.Probe != "":
		return TaskProbe, nil
	case *extra:
		return TaskExtra, nil
	}
	return TaskServe, nil
}

// Begin is Parse, but makes the secrets itself, and returns the environment for the task: a health check's is
// without files.
func (c Command) Begin(args, env []string, stdout, stderr io.Writer) (Task, []string, error) {
	task, err := c.Parse(args, stdout, stderr)
	switch task {
	case TaskInitSecrets:
		return TaskNone, nil, settings.InitFiles(c.Settings, env)
	case TaskHealthcheck:
		env = settings.WithoutFiles(c.Settings, env)
	}
	return task, env, err
}

// WarnOfResembling warns of the variables of an environment that resemble settings. Where such a setting has not been
// set, what was meant for it has no effect.
func (c Command) WarnOfResembling(env []string, log *slog.Logger) {
	for _, r := range settings.Resembling(c.Settings, env, c.Beside...) {
		log.Warn("a variable resembles a setting, but is none: it does nothing", "variable", r.Variable, "setting", r.Setting)
	}
}

// help is printed for -help, and for a flag that there is not.
func (c Command) help(flags *flag.FlagSet, w io.Writer) {
	fmt.Fprintf(w, "Usage of %s:\n", c.Name)
	flags.PrintDefaults()
	fmt.Fprintln(w, "\nSettings (environment variables):")
	settings.WriteHelp(w, c.Settings)
}
