package transcript

import (
	"strings"

	"github.com/sessevents/sessevents/internal/lines"
)

// ends looks only at the records that can be an end; whose end one is, is looked up backward from it. So little is
// parsed, and nothing need be kept between two calls.
func (c claude) ends(s *source, from int64) ([]End, int64, error) {
	var ends []End
	for line, err := range lines.Forward(s.file, from, s.end, lines.Limit) {
		if err != nil {
			return nil, 0, err
		}
		end, ok := c.end(line)
		if !ok {
			continue
		}
		known, err := c.whose(s, &end)
		if err != nil {
			return nil, 0, err
		}
		if !known {
			ends = append(ends, end)
		}
	}
	return ends, s.end, nil
}

// end is the end that a record tells of. Only an interruption names its turn.
func (c claude) end(l lines.Line) (End, bool) {
	if !holds(l.Raw, `"turn_duration"`) && !holds(l.Raw, `"isApiErrorMessage"`) && !holds(l.Raw, interruptedText) {
		return End{}, false
	}
	var r claudeRecord
	if !claudeMatters(l.Raw) || !decode(l.Raw, &r) || r.IsSidechain {
		return End{}, false
	}
	end := End{At: parseTime(r.Timestamp), Offset: l.Offset}
	switch {
	case r.Type == "system" && r.Subtype == "turn_duration":
	case r.Type == "assistant" && r.IsAPIError:
		end.Error = r.failure()
	case r.Type == "user":
		if said, _, _ := r.user(); said != interruption {
			return End{}, false
		}
		end.TurnID, end.Interrupted = r.PromptID, true
	default:
		return End{}, false
	}
	return end, true
}

// whose looks up the turn of an end and its closing message, and says whether an earlier record ended that turn already.
func (c claude) whose(s *source, end *End) (known bool, err error) {
	var closing closing
	for line, err := range lines.Backward(s.file, 0, end.Offset, lines.Limit) {
		if err != nil {
			return false, err
		}
		var r claudeRecord
		if !claudeMatters(line.Raw) || !decode(line.Raw, &r) || r.IsSidechain {
			continue
		}
		if _, ended := c.end(line); ended && !end.Interrupted && !closing.any {
			return true, nil
		}
		if r.Type == "assistant" && !r.IsAPIError && r.Message.Model != "<synthetic>" {
			closing.before(r.Message.ID, texts(blocks(r.Message.Content)))
		}
		if r.Type != "user" {
			continue
		}
		if said, _, _ := r.user(); said != silence && r.id() != "" {
			if end.TurnID == "" {
				end.TurnID = r.id()
			}
			break
		}
	}
	end.LastMessage = closing.text
	return false, nil
}

// closing gathers the last message that has text, from its end.
type closing struct {
	id, text string
	any      bool // there was a message, be it without text
}

func (c *closing) before(id, text string) {
	c.any = true
	switch {
	case text == "":
	case c.text == "":
		c.id, c.text = id, text
	case id == c.id && id != "":
		c.text = text + "\n" + c.text
	}
}

// texts are the texts of a message's blocks, a line or more each.
func texts(list []block) string {
	var out []string
	for _, b := range list {
		if b.Type == "text" && strings.TrimSpace(b.Text) != "" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n")
}
