package fakeharness

import (
	"strconv"
	"time"
)

// knobs are what a test may ask for by the environment. A duration is Go's ("200ms") or a number of seconds.
type knobs struct {
	// FAKE_EXIT=N: ends with status N at once, before it touches the terminal.
	exits bool
	exit  int
	// FAKE_BOOT=D: the time before it is ready.
	boot time.Duration
	// FAKE_LATE_DIALOG=D: the time before the first question shows.
	lateDialog time.Duration
	// FAKE_TRUST=no-first|yes-first: asks whether the folder is trusted, whatever is configured. FAKE_TRUST=twice asks,
	// with No first, and then another of the client's questions.
	trust string
	// FAKE_UNKNOWN_DIALOG=1: asks something that nobody knows, at the start.
	unknownDialog bool
	// FAKE_LAX=1: none of the questions and checks of the start.
	lax bool
	// FAKE_SWALLOW=N: the first N Enter keys behind a text are lost.
	swallow int
	// FAKE_LOSE_PASTE=N: the first N pastes are lost.
	losePaste int
	// FAKE_SUBMITLAG=D: the time between a prompt and its hook.
	submitLag time.Duration
	// FAKE_TURN=D: the time that every turn takes at least.
	turn time.Duration
	// FAKE_SILENT=1: no turn ever ends by itself.
	silent bool
	// FAKE_FAIL=CODE: every turn ends with this error of the API; "1" is 429.
	fail string
	// FAKE_EVENTLAG=D: the closing message is written this long after the hook of the turn's end, which does not
	// carry it.
	eventLag time.Duration
	// FAKE_RECORDLAG=D: what goes into the transcript is written this long after it happened (Claude Code).
	recordLag time.Duration
	// FAKE_NO_MODEL=1: there is no model to ask, so that prompts are refused (Pi).
	noModel bool
	// FAKE_NOEXIT=1: /exit and /quit are ignored; FAKE_NOEXIT=hard: SIGTERM and SIGHUP too.
	noExit string
	// FAKE_DUMP_ENV=FILE: its arguments, folder and environment, as JSON.
	dumpEnv string
	// FAKE_LOG=FILE: what it received, and its hooks, line by line.
	log string
}

func readKnobs(env environment) knobs {
	number := func(name string) int {
		n, err := strconv.Atoi(env.get(name))
		if err != nil {
			return 0
		}
		return n
	}
	_, err := strconv.Atoi(env.get("FAKE_EXIT"))
	fail := env.get("FAKE_FAIL")
	if fail == "1" {
		fail = "429"
	}
	return knobs{
		exits:         err == nil,
		exit:          number("FAKE_EXIT"),
		boot:          duration(env.get("FAKE_BOOT")),
		lateDialog:    duration(env.get("FAKE_LATE_DIALOG")),
		trust:         env.get("FAKE_TRUST"),
		unknownDialog: env.get("FAKE_UNKNOWN_DIALOG") != "",
		lax:           env.get("FAKE_LAX") != "",
		swallow:       number("FAKE_SWALLOW"),
		losePaste:     number("FAKE_LOSE_PASTE"),
		submitLag:     duration(env.get("FAKE_SUBMITLAG")),
		turn:          duration(env.get("FAKE_TURN")),
		silent:        env.get("FAKE_SILENT") != "",
		fail:          fail,
		eventLag:      duration(env.get("FAKE_EVENTLAG")),
		recordLag:     duration(env.get("FAKE_RECORDLAG")),
		noModel:       env.get("FAKE_NO_MODEL") != "",
		noExit:        env.get("FAKE_NOEXIT"),
		dumpEnv:       env.get("FAKE_DUMP_ENV"),
		log:           env.get("FAKE_LOG"),
	}
}

// duration reads Go's form or a number of seconds; anything else is none.
func duration(text string) time.Duration {
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}
