package examples_test

import (
	"strings"
	"testing"
)

// TestDiskSpace_TheRealDf: the numbers are those of this machine, so only their form is known.
func TestDiskSpace_TheRealDf(t *testing.T) {
	w := watch(t, "disk-space", t.TempDir(), "--full", "0", "--room", "0")
	said, err := w.poll()
	if err != nil {
		t.Fatal(err)
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "full: ") || !strings.HasSuffix(said[0], "B free") {
		t.Errorf("a file system of which 0%% counts as full: %q", said)
	}
	w.want()
	watch(t, "disk-space", t.TempDir(), "--full=100", "--room=100").want()
	watch(t, "disk-space", t.TempDir()+"/missing").fails("exit code 1")
}

// TestC29_DiskSpace_Flaps: one alert up, one down, however often the number goes over the line.
func TestC29_DiskSpace_Flaps(t *testing.T) {
	program(t, "df", `percent=$(cat "$DF_PERCENT")
echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'
echo "/dev/fake 1000 $((percent * 10)) $((1000 - percent * 10)) $percent% /"`)
	file := t.TempDir() + "/percent"
	t.Setenv("DF_PERCENT", file)
	w := watch(t, "disk-space", "/")
	for _, step := range []struct{ percent, says string }{
		{"89", ""},
		{"91", "full: /: 91% used, 92.2 KB free"},
		{"89", ""},
		{"91", ""},
		{"86", ""},
		{"99", ""},
		{"84", "- room: /: 84% used, 163.8 KB free"},
		{"89", ""},
		{"90", "full: /: 90% used, 102.4 KB free"},
	} {
		write(t, file, step.percent)
		if step.says == "" {
			w.want()
			continue
		}
		w.want(step.says)
	}
	w.stands("90% used, 102.4 KB free")
}

func TestDiskSpace_Targets(t *testing.T) {
	refused(t, "disk-space", "absolute path", "var")
	refused(t, "disk-space", "--room is at most --full", "/", "--full", "50")
	refused(t, "disk-space", "not a whole number", "/", "--full", "half")
}
