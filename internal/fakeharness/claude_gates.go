package fakeharness

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

func utf16Units(text string) []uint16 { return utf16.Encode([]rune(text)) }

// claudeSettings are the members of a settings file that count here.
type claudeSettings struct {
	SkipBypass bool `json:"skipDangerousModePermissionPrompt"`
	Hooks      map[string][]struct {
		Hooks []struct {
			Type, Command string
			Timeout       float64
		}
	}
}

// settings reads every settings file, and the hooks in them and in plugins.
func (p *claude) settings() (claudeSettings, error) {
	var all claudeSettings
	add := func(text []byte) error {
		var s claudeSettings
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		all.SkipBypass = all.SkipBypass || s.SkipBypass
		for event, groups := range s.Hooks {
			for _, g := range groups {
				for _, h := range g.Hooks {
					if h.Type != "command" {
						continue
					}
					timeout := time.Duration(h.Timeout * float64(time.Second))
					if timeout <= 0 {
						timeout = 60 * time.Second
					}
					p.hooks[event] = append(p.hooks[event], hook{h.Command, timeout})
				}
			}
		}
		return nil
	}
	files := []string{filepath.Join(p.config, "settings.json"), filepath.Join(p.dir, ".claude", "settings.json")}
	if plugin, ok := option(p.args, "--plugin-dir"); ok {
		files = append(files, filepath.Join(plugin, "hooks", "hooks.json"))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = add(text)
		}
		if err != nil {
			return all, err
		}
	}
	given, ok := option(p.args, "--settings")
	if !ok {
		return all, nil
	}
	text := []byte(given)
	if !strings.HasPrefix(strings.TrimSpace(given), "{") {
		var err error
		if text, err = os.ReadFile(given); err != nil {
			return all, err
		}
	}
	return all, add(text)
}

// claudeGlobal are the members of .claude.json that count here.
type claudeGlobal struct {
	Onboarded bool `json:"hasCompletedOnboarding"`
	Keys      struct {
		Approved []string `json:"approved"`
		Rejected []string `json:"rejected"`
	} `json:"customApiKeyResponses"`
	Projects map[string]struct {
		Trusted bool `json:"hasTrustDialogAccepted"`
	} `json:"projects"`
}

// gates asks what the client asks at its start. It is false when that ended it.
func (p *claude) gates(settings claudeSettings) bool {
	var global claudeGlobal
	text, err := os.ReadFile(p.global)
	if err == nil {
		if err := json.Unmarshal(text, &global); err != nil {
			p.die("Claude configuration file is corrupted: "+err.Error(), 1)
			return false
		}
	}
	_ = sleep(context.Background(), p.knobs.lateDialog)
	if p.knobs.unknownDialog {
		p.ask(menu{
			above: []string{" What is your favourite colour?", ""}, items: []string{"Red", "Blue", "Exit"},
			numbered: true, cursor: "❯", below: "Enter to confirm · Esc to cancel",
		})
	}
	if p.knobs.trust != "" && !p.trust(p.knobs.trust) {
		return false
	}
	if p.knobs.trust == "twice" && !p.bypass() {
		return false
	}
	if p.knobs.lax {
		return true
	}
	if !global.Onboarded {
		p.die("Unable to connect to Anthropic services\n\nFailed to connect to api.anthropic.com: ERR_BAD_REQUEST", 1)
		return false
	}
	trusted := p.env.get("CLAUDE_CODE_SANDBOXED") == "1" || p.knobs.trust != "" || trusts(global, p.dir)
	if !trusted {
		if !p.trust("no-first") {
			return false
		}
		p.change(func(all map[string]any) {
			within(within(all, "projects"), p.dir)["hasTrustDialogAccepted"] = true
		})
	}
	if key := p.env.get("ANTHROPIC_API_KEY"); key != "" {
		end := key[max(0, len(key)-20):]
		if !slices.Contains(global.Keys.Approved, end) && !slices.Contains(global.Keys.Rejected, end) {
			p.approve(end)
		}
	}
	if p.skip && !settings.SkipBypass && !p.bypass() {
		return false
	}
	p.change(func(all map[string]any) {
		starts, _ := all["numStartups"].(float64)
		all["numStartups"] = starts + 1
	})
	return true
}

// trusts reports whether the folder, or one above it, is trusted; in a git repository none above its root.
func trusts(global claudeGlobal, dir string) bool {
	for at := dir; ; at = filepath.Dir(at) {
		if global.Projects[at].Trusted {
			return true
		}
		_, err := os.Stat(filepath.Join(at, ".git"))
		if err == nil || at == filepath.Dir(at) {
			return false
		}
	}
}

const confirm = "Enter to confirm · Esc to cancel"

func (p *claude) trust(how string) bool {
	m := menu{
		above: []string{
			strings.Repeat("─", p.width), " Accessing workspace:", "", " " + p.dir, "",
			" Quick safety check: Is this a project you created or one you trust?", "",
		},
		items: []string{"No, exit", "Yes, I trust this folder"}, cursor: "❯", below: confirm,
	}
	if how == "yes-first" {
		slices.Reverse(m.items)
	}
	if choice := p.ask(m); choice < 0 || m.items[choice] == "No, exit" {
		p.die("Claude Code didn't start because this folder isn't trusted.", 1)
		return false
	}
	return true
}

func (p *claude) approve(key string) {
	choice := p.ask(menu{
		above: []string{
			" Detected a custom API key in your environment", "", " ANTHROPIC_API_KEY: sk-ant-..." + key[max(0, len(key)-4):], "",
			" Do you want to use this API key?", "",
		},
		items: []string{"Yes", "No (recommended)"}, at: 1, numbered: true, cursor: "❯", below: confirm,
	})
	list := "rejected"
	if choice == 0 {
		list = "approved"
	}
	p.change(func(all map[string]any) {
		keys := within(all, "customApiKeyResponses")
		old, _ := keys[list].([]any)
		keys[list] = append(old, key)
	})
}

func (p *claude) bypass() bool {
	choice := p.ask(menu{
		above: []string{
			" WARNING: Claude Code running in Bypass Permissions mode", "",
			" In Bypass Permissions mode, Claude Code will not ask for your approval before running potentially dangerous commands.", "",
		},
		items: []string{"No, exit", "Yes, I accept"}, numbered: true, cursor: "❯", below: confirm,
	})
	if choice != 1 {
		p.die("", 1)
		return false
	}
	p.rewrite(filepath.Join(p.config, "settings.json"), func(all map[string]any) {
		all["skipDangerousModePermissionPrompt"] = true
	})
	return true
}

func (p *claude) change(how func(all map[string]any)) { p.rewrite(p.global, how) }

// rewrite changes a file as the client does: read again, then replaced whole.
func (p *claude) rewrite(path string, how func(all map[string]any)) {
	all := map[string]any{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.logf("read %s: %v", path, err)
		return
	}
	how(all)
	if err := writeWhole(path, encode(all)); err != nil {
		p.logf("write %s: %v", path, err)
	}
}

// within is the object of a name in another, made if need be.
func within(all map[string]any, name string) map[string]any {
	inner, ok := all[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		all[name] = inner
	}
	return inner
}
