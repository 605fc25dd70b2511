//go:build compose

package compose

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every file is one that each compose takes, alone and with each overlay: the engine's own, and the one that COMPOSE_V2
// names, where it is set.
func TestConfig(t *testing.T) {
	overlays := engine.overlays()
	programs := [][]string{engine.compose}
	if v2 := os.Getenv("COMPOSE_V2"); v2 != "" {
		programs = append(programs, []string{v2})
	}
	for _, program := range programs {
		version, err := output(program[0], append(program[1:len(program):len(program)], "version", "--short")...)
		if err != nil {
			t.Fatal(err)
		}
		s := engine.overlaid()
		s.compose, s.files = program, []string{"docker-compose.yml"}
		if _, err := s.run("config", "--quiet"); err != nil {
			t.Errorf("compose %s: %v", version, err)
		}
		for _, overlay := range overlays {
			if _, err := s.with(overlay).run("config", "--quiet"); err != nil {
				t.Errorf("compose %s with %s: %v", version, filepath.Base(overlay), err)
			}
		}
		if _, err := s.with(overlays...).run("config", "--quiet"); err != nil {
			t.Errorf("compose %s with all overlays: %v", version, err)
		}
		t.Logf("compose %s takes docker-compose.yml and %d overlays", version, len(overlays))
	}
}

// Every image of this project's own can be one of a release.
func TestImagesOfARelease(t *testing.T) {
	out, err := engine.overlaid().with("IMAGE_PREFIX=registry.example/owner/", "VERSION=1.2.3").run("config")
	if err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`image: (\S*network-diagnostics-(?:gateway|worker)\S*)`).FindAllStringSubmatch(out, -1)
	if len(own) != 4 {
		t.Errorf("%d images of its own, want those of secrets, worker, gateway and place", len(own))
	}
	for _, image := range own {
		if !regexp.MustCompile(`^registry\.example/owner/network-diagnostics-(gateway|worker):1\.2\.3$`).MatchString(image[1]) {
			t.Errorf("the image %s", image[1])
		}
	}
}

// What others have built is of one release: a tag that moves would bring in what was never tested.
func TestImagesHaveExactTags(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(engine.root, "deploy", "*.Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(append(files, engine.overlays()...), filepath.Join(engine.root, "docker-compose.yml"))
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, image := range regexp.MustCompile(`(?m)^(?:FROM| +image:) (\S+)`).FindAllStringSubmatch(string(text), -1) {
			if image[1] == "scratch" || strings.Contains(image[1], "network-diagnostics-") {
				continue
			}
			seen++
			if !regexp.MustCompile(`:v?\d+\.\d+\.\d+(-[a-z]+)?(@sha256:[0-9a-f]{64})?$`).MatchString(image[1]) {
				t.Errorf("%s: %s", filepath.Base(file), image[1])
			}
		}
	}
	if seen != 5 {
		t.Errorf("%d images of others, want Go twice, Redis, Caddy and Prometheus", seen)
	}
}
