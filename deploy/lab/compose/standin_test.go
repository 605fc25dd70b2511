//go:build compose

package compose

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// standIn makes an image under the name that a file of compose gives it, where the engine does not have it: of Debian's
// programs and what they are linked with. It goes again when all is taken down. Programs are by their paths in the
// image, and folders are those that anyone may write there.
func standIn(file, image, change string, programs map[string]string, folders ...string) error {
	text, err := os.ReadFile(filepath.Join(engine.root, file))
	if err != nil {
		return err
	}
	found := regexp.MustCompile(`(?m)^ +image: ((?:\S+/)?` + image + `:\S+)$`).FindSubmatch(text)
	if found == nil {
		return fmt.Errorf("%s names no image of %s", file, image)
	}
	name := string(found[1])
	if exec.Command("docker", "image", "inspect", name).Run() == nil {
		return nil
	}
	files := map[string]string{}
	for at, program := range programs {
		path, err := exec.LookPath(program)
		if err != nil {
			return err
		}
		files[at] = path
		out, err := output("ldd", path)
		if err != nil && !strings.Contains(err.Error(), "not a dynamic executable") {
			return err
		}
		for _, library := range regexp.MustCompile(`(/\S+) \(0x`).FindAllStringSubmatch(out, -1) {
			files[library[1]] = library[1]
		}
	}
	return importImage(name, change, files, folders...)
}
