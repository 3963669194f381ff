package harness

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// dialog is a question of a client whose answer is known: the screen holds text, and the entry want, there or below
// it, is chosen. No entry above the text can be the chosen one.
type dialog struct {
	text string
	want string
}

// cursors mark the chosen entry of a menu.
const cursors = "❯›"

// entry is one line of a menu: its text, without the cursor and without its number.
func entry(line string) (text string, chosen bool) {
	text = strings.TrimSpace(line)
	rest := strings.TrimLeft(text, cursors)
	chosen = rest != text
	text = strings.TrimSpace(rest)
	if number, after, ok := strings.Cut(text, ". "); ok && number != "" && strings.Trim(number, "0123456789") == "" {
		text = strings.TrimSpace(after)
	}
	return text, chosen
}

// place is where the cursor of a menu stands: in which dialog, and how many lines above or below the entry that is wanted.
type place struct {
	dialog string
	off    int
}

// move says which key brings the cursor of the menu with the dialog's text nearer to want: "Down", "Up", or "Enter"
// when it is there, and where the cursor is. The key is empty where the screen does not show that dialog, its entry and
// the cursor.
func (d dialog) move(screen string) (key string, at place) {
	lines := visible(screen)
	from := -1
	for i, line := range lines {
		if strings.Contains(line, d.text) {
			from = i // the last one: what a client painted before may still stand above
		}
	}
	if from < 0 {
		return "", place{}
	}
	cursor, want := -1, -1
	for i, line := range lines[from:] {
		text, chosen := entry(line)
		if chosen && cursor < 0 {
			cursor = i
		}
		if text == d.want && want < 0 {
			want = i
		}
	}
	at = place{d.text, want - cursor}
	switch {
	case cursor < 0 || want < 0:
		return "", place{}
	case cursor < want:
		return "Down", at
	case cursor > want:
		return "Up", at
	}
	return "Enter", at
}

// answering presses the keys of known dialogs, one at a time: the next only when the cursor has moved since, or when a
// while has passed in which the client may have lost it. What else changes on the screen says nothing of the key.
type answering struct {
	dialogs []dialog
	pressed time.Time
	before  place // where the cursor was when the last key was pressed
	count   int
	// doubled says that a key was pressed again that seemed to be lost. Where it only came late, the client will take it
	// twice, and a menu that begins anew behind its end is then at another entry: so Enter waits until the cursor has stood.
	doubled bool
	stands  standing[place]
}

// lostKey is how long a key may take to show; mostKeys is how many a start may need.
const (
	lostKey  = 2 * time.Second
	mostKeys = 60
)

// step looks for a known dialog and presses its next key. known reports whether there is one.
func (a *answering) step(ctx context.Context, s Screen, screen string, now time.Time) (known bool, err error) {
	for _, d := range a.dialogs {
		key, at := d.move(screen)
		if key == "" {
			continue
		}
		stood := a.stands.since(at, true, now)
		if at == a.before && now.Sub(a.pressed) < lostKey || key == "Enter" && a.doubled && stood < lostKey {
			return true, nil
		}
		a.doubled = key != "Enter" && (a.doubled || at == a.before)
		if a.count++; a.count > mostKeys {
			return true, &DialogError{What: "dialog", Pane: screen, Hint: fmt.Sprintf("its entry %q could not be chosen", d.want)}
		}
		a.before, a.pressed = at, now
		return true, s.Keys(ctx, key)
	}
	return false, nil
}
