package daemontest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"diagnostics/daemon/settings"
)

// Compose holds the environment of a service in docker-compose.yml against its settings: each is there, by itself or as
// the file that holds it, so that a line in .env is all that it takes to set one; and nothing else is but elsewhere.
func Compose(t *testing.T, file, service string, all []settings.Setting, elsewhere ...string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]bool{}
	variable := regexp.MustCompile(`(?m)^      ([A-Z0-9_]+):`)
	for _, m := range variable.FindAllStringSubmatch(section(string(content), service), -1) {
		given[m[1]] = true
	}
	for _, name := range elsewhere {
		if given[name] {
			t.Errorf("docker-compose.yml gives %s %s, which is said to stand elsewhere", service, name)
		}
		given[name] = true
	}
	for _, s := range all {
		file := s.Name + "_FILE"
		if !s.Hidden && !given[s.Name] && !given[file] {
			t.Errorf("docker-compose.yml does not pass %s on to %s", s.Name, service)
		}
		delete(given, s.Name)
		if s.FromFile {
			delete(given, file)
		}
	}
	delete(given, "GOMEMLIMIT")
	delete(given, "GOGC")
	for name := range given {
		t.Errorf("docker-compose.yml gives %s a variable %s that is none of its settings", service, name)
	}
}

// section is the part of a compose file that describes a service.
func section(content, service string) string {
	_, rest, _ := strings.Cut(content, "\n  "+service+":\n")
	if end := regexp.MustCompile(`(?m)^( {0,2})[a-z]`).FindStringIndex(rest); end != nil {
		return rest[:end[0]]
	}
	return rest
}
