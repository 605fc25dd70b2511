package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// image is one layer of files of this machine, without a registry.
type image struct {
	name       string            // with its tag
	files      map[string]string // by path in the image
	entrypoint []string
	env        []string
}

// images are all of the proof. Redis and its shell are Debian's, as are the sandbox of pods and the proxy that stands
// in for an ingress controller.
func images(ctx context.Context, o options, oldGateway, oldWorker string) ([]image, error) {
	all := []image{
		service("gateway", "previous", oldGateway), service("gateway", "current", o.gateway),
		service("worker", "previous", oldWorker), service("worker", "current", o.worker),
		{name: "lab/coredns:1", files: map[string]string{"/coredns": filepath.Join(o.bin, "coredns")},
			entrypoint: []string{"/coredns"}},
	}
	for name, programs := range map[string][]string{
		"lab/redis:1": {"redis-server", "busybox"}, "lab/pause:1": {"busybox"}, "lab/proxy:1": {"caddy", "busybox"},
	} {
		files := map[string]string{}
		for _, program := range programs {
			path, err := exec.LookPath(program)
			if err != nil {
				return nil, err
			}
			needed, err := libraries(ctx, path)
			if err != nil {
				return nil, err
			}
			for _, library := range needed {
				files[library] = library
			}
			files["/bin/"+program] = path
		}
		if files["/bin/busybox"] != "" {
			for _, applet := range []string{"sh", "sed", "sleep", "nc", "wget"} {
				files["/bin/"+applet] = files["/bin/busybox"]
			}
		}
		all = append(all, image{name: name, files: files, env: []string{"PATH=/bin"},
			entrypoint: []string{"/bin/sleep", "2147483647"}})
	}
	return all, nil
}

// service is an image as the Dockerfiles make it: one binary.
func service(name, tag, binary string) image {
	return image{name: "network-diagnostics-" + name + ":" + tag, files: map[string]string{"/" + name: binary},
		entrypoint: []string{"/" + name}}
}

var libraryPath = regexp.MustCompile(`(?m)(/\S+) \(0x`)

// libraries are those that a program is linked with, the loader included.
func libraries(ctx context.Context, program string) (paths []string, err error) {
	out, err := exec.CommandContext(ctx, "ldd", program).Output()
	for _, m := range libraryPath.FindAllStringSubmatch(string(out), -1) {
		paths = append(paths, m[1])
	}
	return paths, err
}

// write makes an archive as docker save does, which containerd imports.
func (i image) write(path string) error {
	layer, err := i.layer()
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": i.entrypoint, "Env": i.env},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest(layer)}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{{
		"Config": digest(config) + ".json", "Layers": []string{"layer.tar"},
		"RepoTags": []string{"docker.io/" + fullName(i.name)},
	}})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range []struct {
		name string
		data []byte
	}{{"layer.tar", layer}, {digest(config) + ".json", config}, {"manifest.json", manifest}} {
		if err := add(w, f.name, f.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o600)
}

// fullName is the name as a pod's image is completed.
func fullName(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return "library/" + name
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (i image) layer() ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, directory := range []string{"tmp/", "data/", "run/"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: directory, Mode: 0o1777}); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(i.files)) {
		data, err := os.ReadFile(i.files[name])
		if err != nil {
			return nil, err
		}
		if err := add(w, strings.TrimPrefix(name, "/"), data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func add(w *tar.Writer, name string, data []byte) error {
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err := w.Write(data)
	return err
}
