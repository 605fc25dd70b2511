package settings

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// secretMode lets the group read, and nobody write: the services that share a secret share a group.
const secretMode = 0o440

// secretOctets are as many as no guess finds, 48 digits in the file.
const secretOctets = 24

// InitFiles makes the files that NAME_FILE variables of the environment name, with a random secret in each, readable by
// the owner and the group of the process. A file that is there stays as it is, unless the variable NAME is set as well:
// then the file holds its value. So whoever brings a secret of his own sets NAME, and the rest is made once.
func InitFiles(all []Setting, env []string) error {
	given := nonEmpty(env)
	made := 0
	for _, s := range all {
		path, named := given[s.Name+fileSuffix]
		if !s.FromFile || !named {
			continue
		}
		made++
		if err := s.initFile(path, given[s.Name]); err != nil {
			return err
		}
	}
	if made == 0 {
		return errors.New("no secret to make: name its file, such as by DIAGNOSTICS_WORKER_TOKEN_FILE=/secrets/worker-token")
	}
	return nil
}

// initFile puts a value into a file; "" is a random one, for a file that is not there yet.
func (s Setting) initFile(path, value string) error {
	have, err := s.readFile(path)
	switch {
	case err == nil && (value == "" || value == have):
		return nil
	case value != "":
	case !errors.Is(missing(path), fs.ErrNotExist):
		return fmt.Errorf("%s is there, but is not a secret: it is empty, too long or cannot be read; fix or remove it", path)
	default:
		random := make([]byte, secretOctets)
		_, _ = rand.Read(random) // never fails
		value = hex.EncodeToString(random)
	}
	if err := replace(path, value); err != nil {
		return fmt.Errorf("the file that %s%s names cannot be written: %w", s.Name, fileSuffix, err)
	}
	return nil
}

func missing(path string) error {
	_, err := os.Lstat(path)
	return err
}

// replace writes a file whole or not at all: a service that starts meanwhile must not read half a secret.
func replace(path, value string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone by its new name, where all went well
	_, err = f.WriteString(value + "\n")
	err = errors.Join(err, f.Chmod(secretMode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
