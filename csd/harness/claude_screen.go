package harness

import (
	"context"
	"strings"
	"time"
	"unicode"
)

// rule is how the lines around the input boxes of Claude Code and Pi begin. Their ends may hold a name.
const rule = "────"

// claudeMarks stand at the edge of the input box: the second while it takes a shell command.
var claudeMarks = []string{"❯", "!"}

// claudeComposer is what stands in the input box, which begins with a mark right below a rule and ends above the lowest
// one. ok is false where there is none, as while a dialog is open.
func claudeComposer(screen string) (text string, ok bool) {
	lines := visible(screen)
	end := -1
	for i := len(lines) - 1; i > 0; i-- {
		if end < 0 {
			if strings.HasPrefix(lines[i], rule) {
				end = i
			}
			continue
		}
		for _, mark := range claudeMarks {
			rest, is := strings.CutPrefix(strings.Join(lines[i:end], "\n"), mark)
			if !is || !strings.HasPrefix(lines[i-1], rule) {
				continue
			}
			text = strings.TrimSpace(rest)
			for _, hint := range claudePlaceholders {
				if strings.HasPrefix(text, hint) {
					return "", true
				}
			}
			return text, true
		}
	}
	return "", false
}

// claudePlaceholders stand, in grey, where nothing was typed.
var claudePlaceholders = []string{"Resend your message to try again", `Try "`}

// InComposer compares without white space: the box breaks lines.
func (claude) InComposer(screen, prompt string) bool {
	text, ok := claudeComposer(screen)
	return ok && (strings.Contains(text, "[Pasted text #") || holds(text, prompt))
}

// holds reports whether what stands in a box is the prompt, a part of it, or more than it.
func holds(text, prompt string) bool {
	text, prompt = squeezed(text), squeezed(prompt)
	return text != "" && prompt != "" && (strings.Contains(text, prompt) || strings.Contains(prompt, text))
}

// squeezed is a text without its white space.
func squeezed(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// The times in which a client shows what a key did. Longer ones cost nothing but on a machine in trouble.
const (
	shows   = 5 * time.Second
	between = 300 * time.Millisecond
	again   = 2 * time.Second
)

// Quit closes what is open over the input box, empties that, and gives the command to exit. The client asks back when
// commands run in the background.
func (c claude) Quit(ctx context.Context, s Screen) error {
	if err := closeClaudeDialogs(ctx, s); err != nil {
		return err
	}
	menu := answering{dialogs: []dialog{{text: "Background work is running", want: "Exit and stop tasks"}}}
	shown := func(screen string) bool { text, _ := claudeComposer(screen); return text == "/exit" }
	if err := write(ctx, c, s, "/exit", shown); err != nil {
		return err
	}
	return leave(ctx, s, shown, &menu)
}

// closeClaudeDialogs presses Escape until the input box is there.
func closeClaudeDialogs(ctx context.Context, s Screen) error {
	for range 4 {
		there, err := until(ctx, again, func() (bool, error) {
			if gone, err := ended(ctx, s); gone || err != nil {
				return gone, err
			}
			screen, err := s.Capture(ctx)
			_, ok := claudeComposer(screen)
			return ok, err
		})
		if there || err != nil {
			return err
		}
		if err := s.Keys(ctx, "Escape"); err != nil {
			return endedOr(ctx, s, err)
		}
	}
	return nil // the command that follows shows in no box, and no Enter follows it
}

// write empties the input box and types a command there, until that is what shows.
func write(ctx context.Context, h Harness, s Screen, command string, shown func(screen string) bool) error {
	for range 3 {
		if _, err := Clear(ctx, h, s); err != nil {
			return endedOr(ctx, s, err)
		}
		if err := s.Literal(ctx, command); err != nil {
			return endedOr(ctx, s, err)
		}
		there, err := until(ctx, again, func() (bool, error) {
			if gone, err := ended(ctx, s); gone || err != nil {
				return gone, err
			}
			screen, err := s.Capture(ctx)
			return shown(screen), err
		})
		if there || err != nil {
			return endedOr(ctx, s, err)
		}
	}
	return nil
}

// leave submits a command that stands in the input box and waits for the end of the client. Enter is pressed only
// while the command stands there, and menu is what the client may ask on its way.
func leave(ctx context.Context, s Screen, shown func(screen string) bool, menu *answering) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	var pressed, seen time.Time
	for {
		if gone, err := ended(ctx, s); gone || err != nil {
			return err
		}
		screen, err := s.Capture(ctx)
		if err != nil {
			return endedOr(ctx, s, err)
		}
		now := time.Now()
		if !shown(screen) {
			if _, err := menu.step(ctx, s, screen, now); err != nil {
				return endedOr(ctx, s, err)
			}
		} else {
			if seen.IsZero() {
				seen = now
			}
			// Right behind the text an Enter would be taken for a part of a paste.
			if now.Sub(seen) >= between && now.Sub(pressed) >= again {
				pressed = now
				if err := s.Keys(ctx, "Enter"); err != nil {
					return endedOr(ctx, s, err)
				}
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// endedOr is err, or nothing if the client has ended: what failed then was a key for somebody who is gone.
func endedOr(ctx context.Context, s Screen, err error) error {
	if err == nil {
		return nil
	}
	if gone, asked := ended(ctx, s); gone && asked == nil {
		return nil
	}
	return err
}
