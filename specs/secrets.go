package specs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sessevents/sessevents/fetchers"
	"gopkg.in/yaml.v3"
)

const (
	// secretTimeout is how long the command of a secret may take.
	secretTimeout = 10 * time.Second
	// keepNone is how long it counts, at most, that there is no secret: who logs in does not wait long.
	keepNone = time.Minute
	// maxSecret bounds what the command of a secret may print.
	maxSecret = 64 << 10
	// leastHidden is how long a value must be to be taken out of documents: shorter ones are words and numbers.
	leastHidden = 6
)

// secretsName is where the environment of an option holds who answers `secret.NAME`. No spec can name it.
const secretsName = "__secrets"

// secretCommand is a command that prints a secret.
type secretCommand struct {
	name string
	argv []*template
	at   *yaml.Node
	keep time.Duration
}

// secrets compiles the commands; they know the target alone, so that one answer serves all targets that ask alike.
func (c *compiler) secrets(registry map[string]fetchers.Fetcher) {
	c.out.secrets = map[string]*secretCommand{}
	run, ok := registry["exec"]
	for _, s := range c.spec.secrets {
		if !ok {
			c.fault(s.name.n, "unknown-fetcher", "a secret comes from a command, and there is no fetcher `exec`", "")
			return
		}
		out := &secretCommand{name: s.name.s, at: s.command, keep: s.keep}
		sc := scope{names: map[string]*shape{"target": c.out.target.names()}, why: map[string]string{
			"env": "a command has the environment of the daemon: it needs no `${env.NAME}`", "cursor": "the command of a secret knows `target` alone",
		}}
		for _, n := range c.sequence(s.command, "`command`") {
			if t := c.template(c.str(n), sc, exprMode{}); t != nil {
				out.argv = append(out.argv, t)
			}
		}
		if len(s.command.Content) == 0 {
			c.fault(s.command, "missing-key", "the command is empty", "write the program and its arguments: `[gh, auth, token]`")
		}
		c.out.secrets[out.name] = out
	}
	c.out.vault = &vault{run: run.Fetch}
}

// secretNames is what `secret` has in an option.
func (s *Source) secretNames() *shape {
	out := &shape{what: "secret", fields: map[string]*shape{}}
	for name := range s.secrets {
		out.fields[name] = anyShape
	}
	return out
}

// vault keeps what the commands of secrets printed, in memory only. Several polls may ask at once.
type vault struct {
	run func(context.Context, fetchers.Request) (fetchers.Answer, error)

	mu   sync.Mutex
	kept map[string]*keptSecret // by the command with its arguments
}

// keptSecret is one secret. Who has received from turn may look at the rest and change it.
type keptSecret struct {
	turn  chan struct{}
	known bool
	value string // empty: there is none
	at    time.Time
}

func (v *vault) entry(argv []string) *keptSecret {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := strings.Join(argv, "\x00")
	k := v.kept[key]
	if k == nil {
		k = &keptSecret{turn: make(chan struct{}, 1)}
		k.turn <- struct{}{}
		if v.kept == nil {
			v.kept = map[string]*keptSecret{}
		}
		v.kept[key] = k
	}
	return k
}

// fresh reports whether a secret need not be asked for again.
func (k *keptSecret) fresh(now time.Time, keep time.Duration) bool {
	if k.value == "" {
		keep = min(keep, keepNone)
	}
	age := now.Sub(k.at)
	return k.known && age >= 0 && age < keep
}

// secretAsker answers `secret.NAME` in the options of one poll.
type secretAsker struct {
	ctx    context.Context
	source *Source
	target map[string]any
	now    time.Time
	log    func(line string)
	got    []string      // the values that it gave
	used   []*keptSecret // where they are kept
}

// get is the value of a secret, nil where there is none: no such command, or one that ends with another code than 0 or
// prints nothing. A command that does not end, or is ended, tells nothing, and fails the poll.
func (a *secretAsker) get(name string) (any, error) {
	cmd := a.source.secrets[name]
	if cmd == nil {
		return nil, wrong("there is no secret of this name")
	}
	argv := make([]string, len(cmd.argv))
	for i, t := range cmd.argv {
		var err error
		if argv[i], err = t.joined(targetEnv(a.target)); err != nil {
			return nil, wrong("the command of the secret %s cannot be made", name)
		}
	}
	k := a.source.vault.entry(argv)
	select {
	case <-k.turn:
	case <-a.ctx.Done():
		return nil, a.ctx.Err()
	}
	defer func() { k.turn <- struct{}{} }()
	if !k.fresh(a.now, cmd.keep) {
		if err := a.ask(k, name, argv); err != nil {
			return nil, err
		}
	}
	if k.value == "" {
		return nil, nil
	}
	a.used = append(a.used, k)
	if !slices.Contains(a.got, k.value) {
		a.got = append(a.got, k.value)
	}
	return k.value, nil
}

// ask runs the command. What it writes to stderr goes nowhere: nobody knows what stands there.
func (a *secretAsker) ask(k *keptSecret, name string, argv []string) error {
	answer, err := a.source.vault.run(a.ctx, fetchers.Request{Now: a.now, Options: map[string]any{
		"command": argv, "accept": []int64{0}, "parse": "text", "maxBytes": int64(maxSecret), "timeout": secretTimeout,
	}})
	var fe *fetchers.Error
	switch {
	case err == nil:
	case errors.As(err, &fe) && (fe.Word == "exit" || fe.Word == "not-found"):
		if !k.known || k.value != "" { // once, not every minute
			a.log(fmt.Sprintf("secret %s: there is none: %v", name, err))
		}
	case a.ctx.Err() != nil:
		return a.ctx.Err()
	case fe != nil:
		return wrong("the command of the secret %s failed: %s", name, fe.Word)
	default:
		return wrong("the command of the secret %s failed", name)
	}
	k.known, k.value, k.at = true, secretIn(answer.Doc), a.now
	return nil
}

// secretIn is the first line of what a command printed.
func secretIn(doc any) string {
	m, _ := doc.(map[string]any)
	s, _ := m["stdout"].(string)
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(s)
}

// forget makes the next poll ask again for the secrets that were used: one that a server refuses may be an old one.
func (a *secretAsker) forget() {
	for _, k := range a.used {
		select {
		case <-k.turn:
			k.known = false
			k.turn <- struct{}{}
		default: // somebody asks for it now
		}
	}
}

// blotter takes secrets out of documents, in the forms in which they may come back.
type blotter struct {
	replace *strings.Replacer
	numbers map[string]bool // secrets that are numbers, as text
}

// newBlotter knows the values that the options of a poll were made from; nil where there are none.
func newBlotter(secrets []string) *blotter {
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	out := &blotter{numbers: map[string]bool{}}
	var pairs []string
	for _, s := range secrets {
		if len(s) < leastHidden {
			continue
		}
		for _, form := range fetchers.Spellings(s) {
			pairs = append(pairs, form, redacted)
		}
		out.numbers[s] = true
	}
	if len(pairs) == 0 {
		return nil
	}
	out.replace = strings.NewReplacer(pairs...)
	return out
}

// isSecret reports whether a number is the decimal text of a secret.
func (b *blotter) isSecret(v any) bool {
	switch v := v.(type) {
	case int, int64, uint64, json.Number:
		return b.numbers[fmt.Sprint(v)]
	case *big.Int:
		return b.numbers[v.String()]
	case float64:
		return b.numbers[strconv.FormatFloat(v, 'f', -1, 64)]
	}
	return false
}

// redacted stands where a secret stood.
const redacted = "(redacted)"

// blot is a document without the secrets. Documents may be shared with other polls, so what changes is copied.
func (b *blotter) blot(v any) any {
	if b == nil {
		return v
	}
	out, _ := b.change(v)
	return out
}

func (b *blotter) change(v any) (out any, changed bool) {
	switch v := v.(type) {
	case string:
		s := b.replace.Replace(v)
		return s, s != v
	case []any:
		list := v
		for i, e := range v {
			n, other := b.change(e)
			if other && !changed {
				list, changed = slices.Clone(v), true
			}
			if other {
				list[i] = n
			}
		}
		return list, changed
	case map[string]any:
		return b.changeMap(v)
	}
	if b.isSecret(v) {
		return redacted, true
	}
	return v, false
}

func (b *blotter) changeMap(m map[string]any) (out any, changed bool) {
	var copied map[string]any
	for name, e := range m {
		key := b.replace.Replace(name)
		n, other := b.change(e)
		if !other && key == name {
			continue
		}
		if copied == nil {
			copied = make(map[string]any, len(m))
			for k, old := range m {
				copied[k] = old
			}
		}
		delete(copied, name)
		copied[key] = n
	}
	if copied == nil {
		return m, false
	}
	return copied, true
}
