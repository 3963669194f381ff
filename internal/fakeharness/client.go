package fakeharness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// program is what tells one client from another. The client calls its methods one at a time.
type program interface {
	// boot comes up, in a goroutine of its own.
	boot()
	// key takes a key where no menu is open.
	key(k key)
	// view is the whole screen, under c.mu.
	view(width int) []string
	// hangup is SIGHUP, terminate SIGTERM.
	hangup()
	terminate()
}

// client is what the three have in common: the terminal, the input box, and what was said.
type client struct {
	name  string
	args  []string
	env   environment
	knobs knobs
	dir   string

	width, height int

	keys    chan key
	dirty   chan struct{}
	exits   chan int
	signals chan os.Signal

	// hooksMu keeps the order of hooks, and of what must not happen between them.
	hooksMu sync.Mutex

	mu      sync.Mutex // guards all below
	box     composer
	said    []string
	menu    *menu
	chosen  chan int
	pastes  int
	swallow int
	lose    int
	leaving bool
	memory  string
}

// newClient reads the knobs and takes the terminal over. ok is false where the client ends at once, with status.
func newClient(args []string, env environment) (c *client, status int, ok bool) {
	k := readKnobs(env)
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return nil, 1, false
	}
	c = &client{
		name: filepath.Base(args[0]), args: args[1:], env: env, knobs: k, dir: dir,
		keys: make(chan key), dirty: make(chan struct{}, 1), exits: make(chan int, 1), signals: make(chan os.Signal, 4),
		swallow: k.swallow, lose: k.losePaste,
	}
	if k.dumpEnv != "" {
		dump := obj("argv", args, "dir", dir, "env", env, "pid", os.Getpid())
		if err := os.WriteFile(k.dumpEnv, encode(dump), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return nil, 1, false
		}
	}
	if k.exits {
		fmt.Printf("fake %s ends at once\r\n", c.name)
		time.Sleep(100 * time.Millisecond) // tmux may not read the words of a program that ends right behind them
		return nil, k.exit, false
	}
	// The size is asked before the terminal is raw; without one it is tmux's usual.
	c.width, c.height = 80, 24
	if out, err := stty("size"); err == nil {
		fields := strings.Fields(out)
		if len(fields) == 2 {
			c.height, _ = strconv.Atoi(fields[0])
			c.width, _ = strconv.Atoi(fields[1])
		}
	}
	signal.Notify(c.signals, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGWINCH)
	return c, 0, true
}

func stty(args ...string) (string, error) {
	cmd := exec.Command("stty", args...)
	cmd.Stdin = os.Stdin
	out, err := cmd.Output()
	return string(out), err
}

func (c *client) close() { signal.Stop(c.signals) }

// run is the client from here on. It returns the exit status.
func (c *client) run(p program) int {
	if _, err := stty("raw", "-echo"); err != nil {
		c.logf("no terminal: %v", err)
	}
	c.put("\x1b[?2004h\x1b[H\x1b[2J")
	defer func() {
		c.put("\x1b[?2004l")
		_, _ = stty("sane") // the terminal may be gone
	}()
	go c.read() // ends with the process: nothing wakes a read of a terminal
	go p.boot() // ends with c.exits at the latest, which ends the process
	for {
		select {
		case k, ok := <-c.keys:
			if !ok {
				c.keys = nil
				c.orphaned(p)
				break
			}
			c.logf("key %s %q", k.name, k.text)
			if !c.pressMenu(k) {
				p.key(k)
			}
		case s := <-c.signals:
			c.signal(p, s)
		case status := <-c.exits:
			return status
		case <-c.dirty:
		}
		c.draw(p)
	}
}

func (c *client) signal(p program, s os.Signal) {
	c.logf("signal %v", s)
	switch {
	case s == syscall.SIGWINCH:
		if out, err := stty("size"); err == nil {
			_, _ = fmt.Sscan(out, &c.height, &c.width)
		}
	case c.knobs.noExit == "hard":
	case s == syscall.SIGHUP:
		p.hangup()
	default:
		p.terminate()
	}
}

// orphaned is what follows when the terminal is gone. One that ignores everything is ended all the same, later: it must
// not outlive its test for long.
func (c *client) orphaned(p program) {
	if c.knobs.noExit == "hard" {
		time.AfterFunc(30*time.Second, func() { c.leave(1) })
		return
	}
	p.hangup()
}

// read gives what the terminal sends to the loop.
func (c *client) read() {
	defer close(c.keys)
	chunks := make(chan []byte)
	go func() { // ends with the terminal
		defer close(chunks)
		for {
			b := make([]byte, 64<<10)
			n, err := os.Stdin.Read(b)
			if n > 0 {
				chunks <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	var d decoder
	for {
		var lone <-chan time.Time
		if d.pending() {
			lone = time.After(30 * time.Millisecond) // a key of several bytes comes at once
		}
		select {
		case b, ok := <-chunks:
			if !ok {
				return
			}
			for _, k := range d.feed(b) {
				c.keys <- k
			}
		case <-lone:
			for _, k := range d.flush() {
				c.keys <- k
			}
		}
	}
}

// pressMenu gives a key to the menu that is open.
func (c *client) pressMenu(k key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.menu == nil {
		return false
	}
	if choice, done := c.menu.press(k); done {
		c.menu = nil
		c.chosen <- choice
	}
	return true
}

// ask opens a menu and waits for the answer: an entry, or -1. It must not be called from the loop.
func (c *client) ask(m menu) int { return c.askWithin(context.Background(), m) }

// askWithin is ask of a menu that ends with ctx, as when its turn is broken off; the choice is -1 then.
func (c *client) askWithin(ctx context.Context, m menu) int {
	c.mu.Lock()
	c.menu, c.chosen = &m, make(chan int, 1)
	chosen := c.chosen
	c.mu.Unlock()
	c.changed()
	defer c.changed()
	select {
	case choice := <-chosen:
		return choice
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.chosen == chosen {
			c.menu = nil
		}
		return -1
	}
}

// changed lets the screen be drawn again.
func (c *client) changed() {
	select {
	case c.dirty <- struct{}{}:
	default:
	}
}

// leave ends the client with a status, once.
func (c *client) leave(status int) {
	select {
	case c.exits <- status:
	default:
	}
}

// startLeaving reports whether nobody has begun to leave yet.
func (c *client) startLeaving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.leaving
	c.leaving = true
	return !was
}

// say adds to what was said.
func (c *client) say(text string) {
	c.mu.Lock()
	c.said = append(c.said, append(wrap(text, "  ", c.width), "")...)
	if over := len(c.said) - 1000; over > 0 {
		c.said = c.said[over:]
	}
	c.mu.Unlock()
	c.changed()
}

func (c *client) put(text string) { _, _ = os.Stdout.WriteString(text) } // the terminal may be gone

// draw paints the screen: the end of what there is to show.
func (c *client) draw(p program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := p.view(c.width)
	if over := len(lines) - c.height; over > 0 {
		lines = lines[over:]
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString("\x1b[2K") // before the line: behind one that fills it, its last letter would go
		b.WriteString(line)
	}
	b.WriteString("\x1b[J")
	c.put(b.String())
}

// logf writes a line to FAKE_LOG.
func (c *client) logf(format string, args ...any) {
	if c.knobs.log == "" {
		return
	}
	f, err := os.OpenFile(c.knobs.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %s\n", stamp(), fmt.Sprintf(format, args...))
}

// edit applies a key that every input box takes.
func (c *client) edit(k key) {
	switch k.name {
	case "text":
		c.box.insert(k.text)
	case "Tab":
		c.box.insert("    ")
	case "BSpace":
		c.box.backspace()
	case "C-u":
		c.box.killLine()
	}
}

// lost reports whether a paste is to be lost; swallowed the same of an Enter behind a text.
func (c *client) lost() bool {
	if c.lose <= 0 {
		return false
	}
	c.lose--
	return true
}

func (c *client) swallowed() bool {
	if c.swallow <= 0 || c.box.empty() {
		return false
	}
	c.swallow--
	return true
}
