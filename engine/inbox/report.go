package inbox

import "encoding/json"

// Report is what the receiver says of a message, on a connection of its own to the sender's socket: that it is held
// for the user's consent, or dropped. Of what it takes it says nothing.
type Report struct {
	Status string // held, dropped, denied, expired, delivered, refused
	Reason string
	MsgID  string
}

// ParseReport reads a line that came to the control socket; ok is false where it is no report.
func ParseReport(line []byte) (r Report, ok bool) {
	var m struct {
		Type       string `json:"type"`
		Action     string `json:"action"`
		Status     string `json:"status"`
		Reason     string `json:"reason"`
		DropReason string `json:"drop_reason"`
		OrigMsgID  string `json:"orig_msg_id"`
	}
	if json.Unmarshal(line, &m) != nil || m.Type != "control" || m.Action != "peer_message_status" {
		return Report{}, false
	}
	if m.Reason == "" {
		m.Reason = m.DropReason
	}
	return Report{Status: m.Status, Reason: m.Reason, MsgID: m.OrigMsgID}, true
}
