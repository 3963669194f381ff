package csd_test

import (
	"testing"

	"github.com/sessevents/sessevents/csd"
)

// TestSend_APromptThatQuotesANotification is the sender's own, although the client marks its own prompts so.
func TestSend_APromptThatQuotesANotification(t *testing.T) {
	r := newRig(t).with("CSD_SUBMIT_TIMEOUT", "3")
	r.launch("claude", "w")
	prompt := "<task-notification><task-id>b1</task-id></task-notification> is what I was told"
	if got := r.converse("w", prompt); got != "Echo: "+prompt {
		t.Errorf("%q", got)
	}
}

// TestLaunch_WithoutAFolder is a mistake: a script's variable that is not set must start nothing where the script is.
func TestLaunch_WithoutAFolder(t *testing.T) {
	r := newRig(t)
	_, err := r.fleet().Launch(t.Context(), csd.LaunchOptions{Name: "w"})
	r.fails(err, csd.Usage, "the folder is empty")
	_, err = r.fleet().Adopt(t.Context(), csd.AdoptOptions{LaunchOptions: csd.LaunchOptions{Name: "w"}, SessionID: "0c5ef6d6-0001"})
	r.fails(err, csd.Usage, "the folder is empty")
	if s := r.sessions(); len(s) != 0 {
		t.Errorf("sessions %v", s)
	}
}
