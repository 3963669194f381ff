package fakeharness

import (
	"slices"
	"strings"
)

// step is one order of a prompt.
type step struct{ verb, arg string }

// verbs are the orders that a line of a prompt may begin with:
//
//	TOOL cmd      runs cmd with the shell tool
//	BG cmd        runs cmd in the background
//	PAR a | b     runs several with the shell tool at once (Claude Code)
//	STOPBG        ends the last command in the background with a tool (Claude Code)
//	COMPACT       replaces the conversation by a summary, within the turn
//	PERMIT cmd    asks for leave to run cmd (Claude Code)
//	PATCH file    adds a file with the patch tool (Codex)
//	SUB text      asks a subagent (Claude Code)
//	POLL          waits for the last background command (Codex)
//	BADTOOL       calls a tool that does not exist
//	THINK text    a thought
//	SAY text      words before what follows
//	SLOW d        streams text for so long
//	HANG          gives nothing until it is interrupted
//	ERR code [d]  the API fails, after d
//	FAIL          the same as ERR 529
//	FLAKY n       the API fails n times before it answers (Pi)
//	EMPTY         an answer without text
//	ANSWER text   the answer; "\n" in it is a line feed
//	REMEMBER x    keeps x in the conversation
//	RECALL        answers with what was last to be kept
//	DIE n         ends the client with status n, as a crash: no hook, nothing tidied
//
// Without a line of that kind the answer is "Echo: " and the prompt; with some, and no ANSWER, it is "Tool said: " and
// the output of the last tool, or "Done.".
var verbs = []string{
	"TOOL", "BG", "PAR", "STOPBG", "COMPACT", "PERMIT", "PATCH", "SUB", "POLL", "BADTOOL", "THINK", "SAY", "SLOW", "HANG", "ERR", "FAIL", "FLAKY", "EMPTY", "ANSWER",
	"REMEMBER", "RECALL", "DIE",
}

// parseScript reads the orders of a prompt.
func parseScript(prompt string) []step {
	var steps []step
	for line := range strings.Lines(prompt) {
		verb, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
		if slices.Contains(verbs, verb) {
			steps = append(steps, step{verb, strings.TrimSpace(arg)})
		}
	}
	return steps
}

// answer is the last words of a turn.
func answer(prompt string, steps []step, tool string) string {
	for _, s := range slices.Backward(steps) {
		switch s.verb {
		case "ANSWER":
			return strings.ReplaceAll(s.arg, `\n`, "\n")
		case "EMPTY":
			return ""
		}
	}
	switch {
	case len(steps) == 0:
		return "Echo: " + prompt
	case tool != "":
		return "Tool said: " + strings.TrimSpace(tool)
	}
	return "Done."
}
