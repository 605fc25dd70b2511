package archtest

import (
	"errors"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rights are what only root may do, and what tells root from others.
var rights = ban{
	names: []string{"os.Getuid", "os.Geteuid", "syscall.Getuid", "syscall.Geteuid", "golang.org/x/sys/unix.Getuid",
		"golang.org/x/sys/unix.Geteuid", "os.Chown", "os.Lchown", "syscall.Chown", "syscall.Credential",
		"syscall.Setuid", "syscall.Setgid", "golang.org/x/sys/unix.Setuid", "golang.org/x/sys/unix.Setgid",
		"syscall.Mount", "golang.org/x/sys/unix.Mount", "syscall.Chroot", "golang.org/x/sys/unix.Chroot",
		"syscall.Unshare", "golang.org/x/sys/unix.Unshare", "golang.org/x/sys/unix.Setns", "syscall.CLONE_*",
		"golang.org/x/sys/unix.CLONE_*", "syscall.SOCK_RAW", "golang.org/x/sys/unix.SOCK_RAW", "net.ListenIP", "net.DialIP"},
	literals: []string{"ip4:icmp", "ip6:icmp", "ip6:ipv6-icmp", "ip:icmp"},
}

// rightful are the files of `make test` that use rights. They pass without any too: .ci/run tests their packages as
// nobody once more.
var rightful = map[string]string{
	"shared/daemon/backlog_linux_test.go":         "runs itself as nobody where it is root",
	"worker/internal/privilege/privilege_test.go": "drops the rights that there are, and demands that none are left",
}

// testFiles returns the test files of a folder that `make test` compiles: those without a build tag of the lab.
func testFiles(dir string) ([]string, error) {
	p, err := build.ImportDir(dir, 0)
	if none := (*build.NoGoError)(nil); errors.As(err, &none) {
		err = nil
	}
	return slices.Concat(p.TestGoFiles, p.XTestGoFiles), err
}

// `make test` is for every user.
func TestNothingNeedsRoot(t *testing.T) {
	t.Parallel()
	found, looked := map[string]bool{}, 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case path != root && (name == "testdata" || name == "node_modules" || name[0] == '.'):
			return fs.SkipDir
		}
		files, err := testFiles(path)
		looked += len(files)
		for _, use := range inspect(t, path, files, rights.banned) {
			file, _, _ := strings.Cut(use, ":")
			file = strings.TrimPrefix(filepath.ToSlash(filepath.Join(path, file)), root+"/")
			found[file] = true
			if rightful[file] == "" && !strings.HasPrefix(file, "gateway/internal/archtest/") {
				t.Errorf("%s/%s: make test needs no privileges: such a test has the build tag e2e, lab or compose", path, use)
			}
		}
		return err
	})
	if err != nil || looked < 300 {
		t.Errorf("%d files were read: %v", looked, err)
	}
	for file := range rightful {
		if !found[file] {
			t.Errorf("%s uses no rights any more: take it off the list", file)
		}
	}
}

// The packages that may behave otherwise without rights are tested as nobody.
func TestRightfulPackagesAreTestedAsNobody(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, ".ci/run"))
	if err != nil {
		t.Fatal(err)
	}
	var patterns []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, ".ci/as-nobody") {
			patterns = strings.Fields(line)
		}
	}
	for file := range rightful {
		dir := "./" + filepath.ToSlash(filepath.Dir(file))
		if !slices.ContainsFunc(patterns, func(pattern string) bool {
			above, all := strings.CutSuffix(pattern, "/...")
			return dir == above || all && strings.HasPrefix(dir, above+"/")
		}) {
			t.Errorf("%s is not among what .ci/run tests as nobody: %q", dir, patterns)
		}
	}
}

// The fixture has one use of each kind.
func TestTheRuleOnRightsCanFail(t *testing.T) {
	t.Parallel()
	found := inspect(t, "testdata/rights", []string{"rights_test.go"}, rights.banned)
	want := []string{"rights_test.go:14: os.Geteuid", `rights_test.go:17: "ip4:icmp"`,
		"rights_test.go:18: syscall.CLONE_NEWNET", "rights_test.go:19: golang.org/x/sys/unix.Mount",
		"rights_test.go:20: os.Chown"}
	if !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
}
