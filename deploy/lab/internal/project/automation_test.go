package project

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oasdiff/yaml3"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// workflow is the part of a workflow that decides who gets its rights.
type workflow struct {
	Permissions yaml.Node      `yaml:"permissions"`
	Env         yaml.Node      `yaml:"env"`
	Jobs        map[string]job `yaml:"jobs"`
}

type job struct {
	Permissions yaml.Node `yaml:"permissions"`
	Uses        string    `yaml:"uses"`
	Steps       []struct {
		Uses string `yaml:"uses"`
	} `yaml:"steps"`
	text string
}

// UnmarshalYAML keeps the job's text too, for the secrets that it names anywhere.
func (j *job) UnmarshalYAML(node *yaml.Node) error {
	type plain job
	if err := node.Decode((*plain)(j)); err != nil {
		return err
	}
	text, err := yaml.Marshal(node)
	j.text = string(text)
	return err
}

var secretUse = regexp.MustCompile(`\bsecrets\b`)

// foreignActions returns the actions of others in jobs that hold a write token or a secret.
func foreignActions(text []byte) (found []string, err error) {
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		return nil, err
	}
	env, err := yaml.Marshal(&w.Env)
	if err != nil {
		return nil, err
	}
	for name, j := range w.Jobs {
		rights := w.Permissions
		if !j.Permissions.IsZero() {
			rights = j.Permissions
		}
		if !mayWrite(rights) && !secretUse.MatchString(j.text) && !secretUse.Match(env) {
			continue
		}
		used := []string{j.Uses}
		for _, step := range j.Steps {
			used = append(used, step.Uses)
		}
		for _, action := range used {
			// The workflows of this repository are checked themselves.
			own := action == j.Uses && strings.HasPrefix(action, "./.github/workflows/")
			if action != "" && !own && !strings.HasPrefix(action, "actions/") && !strings.HasPrefix(action, "github/") {
				found = append(found, name+": "+action)
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// mayWrite reports whether permissions include a write token, as they do by default.
func mayWrite(permissions yaml.Node) bool {
	if permissions.Kind != yaml.MappingNode {
		return permissions.Value != "read-all"
	}
	return slices.ContainsFunc(permissions.Content, func(n *yaml.Node) bool { return n.Value == "write" })
}

// TestOnlyGitHubsActionsHoldRights: an action can take whatever its job holds, so a job that can publish or write runs
// only GitHub's actions, and command lines for the rest.
func TestOnlyGitHubsActionsHoldRights(t *testing.T) {
	t.Parallel()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.y*ml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, err := foreignActions(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, action := range found {
			t.Errorf("%s, %s", filepath.Base(file), action)
		}
	}
}

func TestForeignActions(t *testing.T) {
	t.Parallel()
	const steps = "steps: [{uses: actions/checkout@v6}, {run: make}, {uses: github/codeql-action/init@v4}, {uses: %s}]"
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"reads":           {"permissions: {contents: read}\njobs: {a: {" + steps + "}}", nil},
		"reads all":       {"permissions: read-all\njobs: {a: {" + steps + "}}", nil},
		"nothing":         {"permissions: {}\njobs: {a: {" + steps + "}}", nil},
		"job reads":       {"permissions: write-all\njobs: {a: {permissions: {contents: read}, " + steps + "}}", nil},
		"by default":      {"jobs: {a: {" + steps + "}}", []string{"a: docker/login-action@v4"}},
		"writes all":      {"permissions: write-all\njobs: {a: {" + steps + "}}", []string{"a: docker/login-action@v4"}},
		"writes packages": {"permissions: {contents: read, packages: write}\njobs: {a: {" + steps + "}}", []string{"a: docker/login-action@v4"}},
		"job writes": {"permissions: {contents: read}\njobs: {a: {permissions: {contents: write}, " + steps + "}, b: {" + steps + "}}",
			[]string{"a: docker/login-action@v4"}},
		"job has a secret": {"permissions: {contents: read}\njobs: {a: {env: {T: '${{ secrets.T }}'}, " + steps + "}}",
			[]string{"a: docker/login-action@v4"}},
		"all have a secret": {"permissions: {contents: read}\nenv: {T: '${{ secrets.T }}'}\njobs: {a: {" + steps + "}}",
			[]string{"a: docker/login-action@v4"}},
		"own workflow": {"jobs: {a: {uses: ./.github/workflows/ci.yml}}", nil},
		"inherited secrets": {"permissions: {contents: read}\njobs: {a: {uses: other/repository/.github/workflows/ci.yml@v1, secrets: inherit}}",
			[]string{"a: other/repository/.github/workflows/ci.yml@v1"}},
	} {
		text := tt.text
		if strings.Contains(text, "%s") {
			text = strings.ReplaceAll(text, "%s", "docker/login-action@v4")
		}
		if got, err := foreignActions([]byte(text)); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q (%v)", name, got, tt.want, err)
		}
	}
}

// TestDependabotWatchesEveryManifest: what names the version of something from outside is in a folder that Dependabot
// reads for its kind.
func TestDependabotWatchesEveryManifest(t *testing.T) {
	t.Parallel()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, ".github", "dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Updates []struct {
			Ecosystem   string   `yaml:"package-ecosystem"`
			Directory   string   `yaml:"directory"`
			Directories []string `yaml:"directories"`
		} `yaml:"updates"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	watched := map[string]bool{}
	for _, u := range config.Updates {
		for _, dir := range append(u.Directories, u.Directory) {
			if dir != "" {
				watched[u.Ecosystem+" "+dir] = true
			}
		}
	}
	needed, err := manifests(root)
	if err != nil || len(needed) < 10 {
		t.Fatalf("%d manifests, %v", len(needed), err)
	}
	for file, wanted := range needed {
		if !watched[wanted] {
			t.Errorf("nothing watches %s: dependabot.yml lacks %s", file, wanted)
		}
	}
	delete(watched, "github-actions /") // .github/workflows
	for _, wanted := range needed {
		delete(watched, wanted)
	}
	for nothing := range watched {
		t.Errorf("dependabot.yml watches %s, where nothing is", nothing)
	}
}

var composeFile = regexp.MustCompile(`^(docker-)?compose(\.[\w-]+)?\.ya?ml$`)

// manifests returns the files that name versions, each with its ecosystem and its folder.
func manifests(root string) (map[string]string, error) {
	skipped := []string{".git", ".artifacts", "bin", "testdata", "node_modules"}
	found := map[string]string{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && slices.Contains(skipped, entry.Name()) {
				return fs.SkipDir
			}
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		var ecosystem string
		switch base := entry.Name(); {
		case base == "go.mod":
			ecosystem = "gomod"
		case base == "package.json":
			ecosystem = "npm"
		case strings.HasSuffix(base, "Dockerfile"):
			ecosystem = "docker"
		case base == "Chart.yaml":
			ecosystem = "helm"
		case composeFile.MatchString(base):
			ecosystem = "docker-compose"
		default:
			return nil
		}
		found[name] = fmt.Sprintf("%s %s", ecosystem, path.Join("/", filepath.ToSlash(filepath.Dir(name))))
		return nil
	})
	return found, err
}
