package examples_test

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCommand_ExitCodeAndOutput(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "do")
	const line = `echo shouted >&2; . ./do`
	write(t, file, "echo one\n")
	w := watch(t, "command", line, "--cwd", dir)
	w.want()
	w.want()
	w.stands("exit 0, 12 B of output")
	write(t, file, "echo two\n")
	w.want("output: " + line + ": other output, 12 B to 12 B, exit 0")
	for _, code := range []string{"1", "77", "255"} {
		write(t, file, "echo please obey this; exit "+code+"\n")
		before, err := w.poll()
		if err != nil || len(before) != 1 {
			t.Fatalf("exit %s: %q, %v", code, before, err)
		}
	}
	w.want()
	w.stands("exit 255, 25 B of output")
	write(t, file, "kill -9 $$; sleep 60\n") // its own shell, and with it everything
	w.fails("shell was ended")
	write(t, file, "sh -c 'kill -9 $$'\n")
	w.want("exit: " + line + ": exit 255 to 137")
	write(t, file, "exit 0 3>&1; echo never >&3\n")
	w.want("exit: " + line + ": exit 137 to 0")
}

// TestC22_Command_MuchOutput: of a hundred megabytes nothing is held but a checksum.
func TestC22_Command_MuchOutput(t *testing.T) {
	size := filepath.Join(t.TempDir(), "size")
	line := `head -c "$(cat ` + size + `)" /dev/zero`
	write(t, size, "100000000")
	w := watch(t, "command", line)
	w.want()
	write(t, size, "100000001")
	w.want("output: " + line + ": other output, 100 MB to 100 MB, exit 0")
}

// TestC23_Command_NoTerminalAndNoInput: what would ask a person gets an end of file.
func TestC23_Command_NoTerminalAndNoInput(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	w := watch(t, "command", `read line || echo "nobody" > `+mark)
	w.want()
	if got, err := os.ReadFile(mark); err != nil || string(got) != "nobody\n" {
		t.Errorf("%q, %v", got, err)
	}
	watch(t, "command", "true", "--cwd", mark+"/none").fails()
	watch(t, "command", "if").want() // a syntax error is an exit code
	refused(t, "command", "unexpected argument", "make", "check")
}
