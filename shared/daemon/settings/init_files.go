package settings

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
)

// secretMode lets the group of the services read.
const secretMode = 0o440

// InitFiles makes the files that NAME_FILE variables of an environment name, each with the value of NAME, or else with
// a random secret where there is no file yet. The owner and the group may read them: services that share a secret share
// a group.
func InitFiles(all []Setting, env []string) error {
	given := nonEmpty(env)
	for _, s := range all {
		path, value := given[s.Name+fileSuffix], given[s.Name]
		_, missing := os.Lstat(path)
		if !s.FromFile || path == "" || missing == nil && value == "" {
			continue
		}
		if value == "" {
			value = rand.Text()
		}
		// A service that starts meanwhile must not read half a secret. Services that share one share a group.
		whole := path + ".new"
		err := os.WriteFile(whole, []byte(value+"\n"), 0o600)
		if err = errors.Join(err, os.Chmod(whole, secretMode), os.Rename(whole, path)); err != nil {
			return fmt.Errorf("the file that %s%s names cannot be written", s.Name, fileSuffix)
		}
	}
	return nil
}
