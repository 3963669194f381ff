package realclient

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// npmStub stands for npm, which takes the network and most of a minute: it notes that it was called, makes the three
// programs, and breaks off half-way when it is told to.
const npmStub = `#!/bin/sh
echo "$@" >>"$CALLS"
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/.bin"
for p in claude codex pi; do
	printf '#!/bin/sh\n' >"$2/node_modules/.bin/$p"
	chmod +x "$2/node_modules/.bin/$p"
	[ "$p" != "${BREAK:-}" ] || exit 1
done
`

// installer runs scripts/clients in an empty world with the stub of npm.
type installer struct {
	t    *testing.T
	root string
	dir  string // where the clients go
}

func newInstaller(t *testing.T) *installer {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("scripts/clients would install tmux") // not from a test
	}
	root := t.TempDir()
	in := &installer{t: t, root: root, dir: filepath.Join(root, "cache", "sessevents", "clients")}
	if err := os.Mkdir(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "bin", "npm"), []byte(npmStub), 0o755); err != nil {
		t.Fatal(err)
	}
	return in
}

// run runs the script and returns what it printed, and whether it ended well.
func (in *installer) run(env ...string) (string, bool) {
	in.t.Helper()
	cmd := exec.Command(filepath.Join("..", "..", "scripts", "clients"))
	cmd.Env = append([]string{
		"PATH=" + filepath.Join(in.root, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + in.root, "XDG_CACHE_HOME=" + filepath.Join(in.root, "cache"), "CALLS=" + filepath.Join(in.root, "calls"),
	}, env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err == nil
}

// calls is how often npm was called.
func (in *installer) calls() int {
	b, err := os.ReadFile(filepath.Join(in.root, "calls"))
	if err != nil && !os.IsNotExist(err) {
		in.t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}

// alone looks that nothing lies beside the clients.
func (in *installer) alone() {
	in.t.Helper()
	entries, err := os.ReadDir(filepath.Dir(in.dir))
	if err != nil {
		in.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(in.dir) {
			in.t.Errorf("left beside the clients: %s", e.Name())
		}
	}
}

func TestClientsAreInstalledOnce(t *testing.T) {
	in := newInstaller(t)
	for range 2 {
		if out, ok := in.run(); !ok || out != in.dir {
			t.Fatalf("printed %q, ended well: %v; want %s", out, ok, in.dir)
		}
	}
	if n := in.calls(); n != 1 {
		t.Errorf("npm was called %d times for two runs", n)
	}
	in.alone()
	want, err := exec.Command(filepath.Join(in.dir, "node_modules", ".bin", "pi")).CombinedOutput()
	if err != nil {
		t.Errorf("run what was installed: %v %s", err, want)
	}
}

func TestAHalfInstallIsNone(t *testing.T) {
	in := newInstaller(t)
	if out, ok := in.run("BREAK=claude"); ok {
		t.Fatalf("ended well though npm broke off: %s", out)
	}
	if _, err := os.Stat(in.dir); !os.IsNotExist(err) {
		t.Errorf("there is a folder of half the clients: %v", err)
	}
	in.alone()
	if out, ok := in.run(); !ok {
		t.Fatalf("after a half install: %s", out)
	}
	in.alone()
}

func TestWhatIsMissingOrOldIsInstalledAgain(t *testing.T) {
	in := newInstaller(t)
	in.run()
	if err := os.Remove(filepath.Join(in.dir, "node_modules", ".bin", "codex")); err != nil {
		t.Fatal(err)
	}
	if out, ok := in.run(); !ok {
		t.Fatalf("with a program missing: %s", out)
	}
	if err := os.WriteFile(filepath.Join(in.dir, "installed"), []byte("older ones\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, ok := in.run(); !ok {
		t.Fatalf("with other versions: %s", out)
	}
	if n := in.calls(); n != 3 {
		t.Errorf("npm was called %d times, want 3", n)
	}
	in.alone()
}

func TestAFolderOfAnothersIsLeftAlone(t *testing.T) {
	in := newInstaller(t)
	theirs := filepath.Join(in.root, "theirs")
	if err := os.Mkdir(theirs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(theirs, "thesis.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, ok := in.run("SESSEVENTS_CLIENTS=" + theirs)
	if ok || !strings.Contains(out, "error:") || !strings.Contains(out, "hint:") {
		t.Errorf("printed %q, ended well: %v", out, ok)
	}
	if _, err := os.Stat(filepath.Join(theirs, "thesis.txt")); err != nil || in.calls() != 0 {
		t.Errorf("their file: %v; npm calls: %d", err, in.calls())
	}
}
