package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"

	"github.com/kelseyhightower/envconfig"
)

// Config is every setting of the worker. The tags are the documentation: doc is the README's row, takes is what the one
// line says that refuses a value. Rules for all settings: set-but-empty is absent; a field with the tag file may come
// from a file named by NAME_FILE instead; a value is never printed.
type Config struct {
	ListenAddr        listenAddr `envconfig:"WORKER_LISTEN_ADDR" default:"127.0.0.1:8081" takes:"host:port, such as 127.0.0.1:8081" doc:"listener for the gateway"`
	Tokens            tokens     `envconfig:"DIAGNOSTICS_WORKER_TOKEN" file:"true" takes:"a token of at least 16 printable ASCII characters without spaces, or two of them with a comma between" doc:"bearer credential, of at least 16 characters; two, comma-separated, for rotation: both let in. The worker does not start without one"`
	IncludeRaw        boolean    `envconfig:"INCLUDE_RAW_DIAGNOSTICS" default:"false" takes:"true or false" doc:"adds the text that a command-line tool would print; it may name private hops"`
	MaxConcurrent     places     `envconfig:"WORKER_MAX_CONCURRENT" default:"64" takes:"a whole number from 1 to 1000000000" doc:"jobs at once; one more is answered 429"`
	PacketsPerSecond  count      `envconfig:"WORKER_PACKETS_PER_SECOND" default:"5000" takes:"a whole number from 0 to 1000000000" doc:"probes a second in all; jobs over it are slowed down"`
	TargetPerSecond   count      `envconfig:"WORKER_TARGET_PACKETS_PER_SECOND" default:"100" takes:"a whole number from 0 to 1000000000" doc:"probes a second to one address; jobs over it are slowed down"`
	RunAsUID          identity   `envconfig:"RUN_AS_UID" takes:"a numeric user id above 0" doc:"user to become once the sockets are open; empty = keep the user"`
	RunAsGID          identity   `envconfig:"RUN_AS_GID" takes:"a numeric group id above 0" doc:"group to become once the sockets are open; empty = keep the group"`
	MetricsListenAddr listenAddr `envconfig:"METRICS_LISTEN_ADDR" takes:"host:port, such as 127.0.0.1:9091" doc:"private listener for /metrics; empty = off"`
	LogLevel          logLevel   `envconfig:"LOG_LEVEL" default:"info" takes:"debug, info, warn or error" doc:"least level that is logged: debug, info, warn, error"`
	LogFormat         logFormat  `envconfig:"LOG_FORMAT" default:"json" takes:"json or text" doc:"json, or text for people"`
	ShutdownDelay     duration   `envconfig:"SHUTDOWN_DELAY" default:"0s" takes:"a duration, such as 5s" doc:"on SIGTERM: unready but still accepting for this long"`
	ShutdownTimeout   duration   `envconfig:"SHUTDOWN_TIMEOUT" default:"30s" takes:"a duration, such as 30s" doc:"then jobs in flight may finish for this long"`
}

// settingError names a setting and what it takes. It never holds the value, which may be a secret.
type settingError struct{ name, takes string }

func (e *settingError) Error() string { return e.name + " takes " + e.takes }

// ParseConfig reads the settings out of an environment ("NAME=value" each).
func ParseConfig(env []string) (Config, error) {
	given := make(map[string]string)
	for _, pair := range env {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			given[name] = value
		}
	}
	for _, s := range settings() {
		if err := s.readFile(given); err != nil {
			return Config{}, err
		}
	}
	var c Config
	if err := process(given, &c); err != nil {
		return Config{}, err
	}
	if len(c.Tokens) == 0 {
		return Config{}, errors.New("DIAGNOSTICS_WORKER_TOKEN is not set: the worker does not start without a token of at least 16 characters")
	}
	return c, nil
}

// setting is one field of Config with its tags.
type setting struct {
	name, fallback, takes, doc string
	fromFile                   bool
}

// settings lists the fields of Config.
func settings() []setting {
	var out []setting
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		out = append(out, setting{
			name:     f.Tag.Get("envconfig"),
			fallback: f.Tag.Get("default"),
			takes:    f.Tag.Get("takes"),
			doc:      f.Tag.Get("doc"),
			fromFile: f.Tag.Get("file") == "true",
		})
	}
	return out
}

const (
	fileSuffix   = "_FILE"
	maxFileBytes = 64 << 10
)

// readFile puts the content of NAME_FILE in the place of NAME.
func (s setting) readFile(given map[string]string) error {
	path, set := given[s.name+fileSuffix]
	if !s.fromFile || !set {
		return nil
	}
	if _, both := given[s.name]; both {
		return fmt.Errorf("%s and %s%s are both set: set one of them", s.name, s.name, fileSuffix)
	}
	refused := &settingError{name: s.name + fileSuffix, takes: "the path of a readable file that holds " + s.takes}
	f, err := os.Open(path)
	if err != nil {
		return refused
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	// A NUL cannot stand in the environment, which is where envconfig reads.
	if err != nil || text == "" || len(content) > maxFileBytes || strings.Contains(text, "\x00") {
		return refused
	}
	given[s.name] = text
	return nil
}

var environment sync.Mutex

// process lets envconfig fill the struct. It reads only the process environment, where a set-but-empty variable would
// beat a default; so for the length of the call our own names, and no others, hold what was given.
func process(given map[string]string, c *Config) error {
	environment.Lock()
	defer environment.Unlock()
	for _, s := range settings() {
		defer restore(s.name)()
		os.Unsetenv(s.name)
		if value, set := given[s.name]; set {
			if err := os.Setenv(s.name, value); err != nil {
				return &settingError{name: s.name, takes: s.takes}
			}
		}
	}
	err := envconfig.Process("", c)
	var malformed *envconfig.ParseError
	if !errors.As(err, &malformed) {
		return err
	}
	// envconfig's own message repeats the value.
	for _, s := range settings() {
		if s.name == malformed.KeyName {
			return &settingError{name: s.name, takes: s.takes}
		}
	}
	return errors.New("a setting is malformed")
}

func restore(name string) func() {
	before, set := os.LookupEnv(name)
	return func() {
		if !set {
			os.Unsetenv(name)
			return
		}
		_ = os.Setenv(name, before)
	}
}

// settingsTable is the README's table of settings.
func settingsTable() string {
	var b strings.Builder
	b.WriteString("| name | default | meaning |\n|---|---|---|\n")
	for _, s := range settings() {
		name, fallback := "`"+s.name+"`", "empty"
		if s.fromFile {
			name += " (or `" + s.name + fileSuffix + "`)"
		}
		if s.fallback != "" {
			fallback = "`" + s.fallback + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, fallback, s.doc)
	}
	return b.String()
}
