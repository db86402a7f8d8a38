package integration

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// "go install …@version" takes this tree as a release from a module proxy, which is
// a directory here, and the program knows which one it is.
func TestInstallOfAVersion(t *testing.T) {
	t.Parallel() // a compiler's work
	const module, version = "github.com/feedring/feedring", "v0.7.1"
	proxy, cache, bin := t.TempDir(), t.TempDir(), t.TempDir()
	at := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	must(t, os.MkdirAll(at, 0o755))
	mod, err := os.ReadFile("../go.mod")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(at, "list"), []byte(version+"\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(at, version+".mod"), mod, 0o644))
	must(t, os.WriteFile(filepath.Join(at, version+".info"), fmt.Appendf(nil, `{"Version":%q,"Time":%q}`, version, time.Now().UTC().Format(time.RFC3339)), 0o644))
	must(t, zipTree(filepath.Join(at, version+".zip"), "..", module+"@"+version+"/"))

	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	must(t, err)
	modules := strings.TrimSpace(string(out))
	must(t, shareModules(modules, cache, "github.com/feedring"))
	install := exec.Command("go", "install", "-trimpath", module+"/cmd/feedring@"+version)
	install.Dir = bin // outside of this module
	install.Env = append(os.Environ(), "CGO_ENABLED=0", "GOBIN="+bin, "GOMODCACHE="+cache, "GOFLAGS=-modcacherw",
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(modules)+"/cache/download", "GOSUMDB=off")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	out, err = exec.Command(filepath.Join(bin, "feedring"), "version").Output()
	must(t, err)
	if !strings.HasPrefix(string(out), "feedring 0.7.1 (") {
		t.Errorf("version %s is called %q", version, out)
	}
}

// zipTree packs the files below dir as a module's are; what begins with a dot, what was
// built, and modules below it are none of it.
func zipTree(file, dir, prefix string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	z := zip.NewWriter(f)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, rel := d.Name(), strings.TrimPrefix(filepath.ToSlash(path), dir+"/")
		switch {
		case err != nil || path == dir:
			return err
		case d.IsDir() && (strings.HasPrefix(name, ".") || rel == "bin" || isModule(path)):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		w, err := z.Create(prefix + rel)
		if err == nil {
			_, err = w.Write(content)
		}
		return err
	})
	if err != nil {
		return err
	}
	return z.Close()
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// shareModules makes cache a module cache of its own for the modules below own, which
// has all others of another cache.
func shareModules(from, cache, own string) error {
	parts := strings.Split(own, "/")
	for _, below := range []string{"", "cache/download"} {
		for depth := range parts {
			dir := filepath.Join(append([]string{below}, parts[:depth]...)...)
			if err := os.MkdirAll(filepath.Join(cache, dir), 0o755); err != nil {
				return err
			}
			entries, err := os.ReadDir(filepath.Join(from, dir))
			if err != nil {
				return err
			}
			for _, e := range entries {
				if name := e.Name(); name != parts[depth] && !slices.Contains([]string{"cache", "lock", "sumdb"}, name) {
					if err := os.Symlink(filepath.Join(from, dir, name), filepath.Join(cache, dir, name)); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}
