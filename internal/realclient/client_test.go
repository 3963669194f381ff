package realclient

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/internal/modelstub"
)

// driven is what the clients have in common that do not have an inbox.
type driven interface {
	Prompt(text string) error
	WaitTurn(ctx context.Context, n int) (string, error)
	Exit(ctx context.Context) error
}

// clients are the clients that speak OpenAI's protocols, each with its shell tool.
var clients = []struct {
	name  string
	start func(testing.TB, *Network, *Home, string) driven
	shell func(command string) modelstub.Tool
}{
	{"codex", func(t testing.TB, n *Network, h *Home, url string) driven { return StartCodex(t, n, h, url) }, func(command string) modelstub.Tool {
		return modelstub.Tool{Name: "exec_command", Input: map[string]any{"cmd": command, "yield_time_ms": 10000}}
	}},
	{"pi", func(t testing.TB, n *Network, h *Home, url string) driven { return StartPi(t, n, h, url) }, func(command string) modelstub.Tool {
		return modelstub.Tool{Name: "bash", Input: map[string]any{"command": command}}
	}},
}

// TestEachClientTakesATurnWithItsTools: a prompt of two lines, a tool call, a second turn that remembers the first,
// an error, and an end that leaves nothing.
func TestEachClientTakesATurnWithItsTools(t *testing.T) {
	t.Parallel()
	for _, client := range clients {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			Find(t, client.name)
			n, h := NewNetwork(t), NewHome(t)
			l, err := n.Listen()
			if err != nil {
				t.Fatal(err)
			}
			model, err := modelstub.Start(l)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(model.Close)
			model.Add(
				modelstub.Reply{Thinking: "I should look.", Text: "I look.", Tools: []modelstub.Tool{client.shell("echo $((40 + 2)) lines")}},
				modelstub.Reply{Text: "There are 42.", Chunks: 3},
				modelstub.Reply{Text: "I remember."},
				modelstub.Reply{Status: 400, Message: "the stub refuses"},
			)
			c := client.start(t, n, h, model.URL())
			ctx, cancel := context.WithTimeout(t.Context(), 2*turnTimeout)
			defer cancel()
			turn := 0
			say := func(prompt, want string) {
				t.Helper()
				turn++
				if err := c.Prompt(prompt); err != nil {
					t.Fatal(err)
				}
				end, err := c.WaitTurn(ctx, turn)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(end, want) {
					t.Errorf("turn %d ended with %q, want %q", turn, end, want)
				}
			}
			say("count them\nand tell me", "There are 42.")
			if _, err := model.Wait(ctx, func(r modelstub.Request) bool {
				return slices.ContainsFunc(r.Results(), func(res modelstub.Result) bool { return strings.Contains(res.Text, "42 lines") })
			}); err != nil {
				t.Error(err)
			}
			say("and now?", "I remember.")
			if r, err := model.Wait(ctx, func(r modelstub.Request) bool { return r.Says("and now?") }); err != nil {
				t.Error(err)
			} else if !slices.ContainsFunc(r.Messages, func(m modelstub.Message) bool { return strings.Contains(m.Text, "count them\nand tell me") }) {
				t.Errorf("the second turn has not got the first prompt: %+v", r.Messages)
			}
			say("once more", "the stub refuses")
			if err := c.Exit(ctx); err != nil {
				t.Error(err)
			}
			n.RequireNone(t)
		})
	}
}
