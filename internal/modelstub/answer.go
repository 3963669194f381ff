package modelstub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// errCut says that the script wants the connection broken here.
var errCut = errors.New("cut as the script says")

// answer is the way back to the client: server-sent events, or one JSON document.
type answer struct {
	w       http.ResponseWriter
	ctx     context.Context
	started bool
}

// event sends one named event; an empty name sends the data alone.
func (a *answer) event(name string, data any) error {
	if !a.started {
		a.w.Header().Set("Content-Type", "text/event-stream")
		a.w.Header().Set("Cache-Control", "no-cache")
		a.started = true
	}
	b, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	return a.raw(name, string(b))
}

// raw sends data that is no JSON, such as the [DONE] of one protocol.
func (a *answer) raw(name, data string) error {
	if name != "" {
		name = "event: " + name + "\n"
	}
	if _, err := fmt.Fprintf(a.w, "%sdata: %s\n\n", name, data); err != nil {
		return err
	}
	return http.NewResponseController(a.w).Flush()
}

// document sends the answer as one JSON document.
func (a *answer) document(v any) { writeJSON(a.w, http.StatusOK, v) }

// text sends a reply's text piece by piece, as its script says: send is called for each piece.
func (a *answer) text(reply Reply, send func(piece string) error) error {
	pieces := reply.pieces()
	for i, piece := range pieces {
		if reply.Cut && i == len(pieces)/2 {
			if err := send(piece[:len(piece)/2]); err != nil {
				return err
			}
			return errCut
		}
		if err := send(piece); err != nil {
			return err
		}
		if i < len(pieces)-1 && !pause(a.ctx, reply.Pause) {
			return a.ctx.Err()
		}
	}
	return nil
}
