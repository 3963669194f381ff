// csd's eyes in Pi: tells csd, through its hook, what happens in this session. csd writes this file into the worker's
// folder at each start. Nothing here may throw into Pi, and nothing waits but for the hook, which takes milliseconds.
import { spawnSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { CSD_EXE: exe, CSD_WORKER_DIR: root, CSD_TMUX_NAME: name, PI_CODING_AGENT_DIR: home } = process.env;

// csd puts this before a prompt that Pi would take for a command. It is taken off again here.
const TEXT = 'csd:text:';

// The errors after which Pi asks the model again by itself. It tells nobody that it will.
const AGAIN = /overloaded|provider.?returned.?error|rate.?limit|too many requests|429|500|502|503|504|service.?unavailable|server.?error|internal.?error|network.?error|connection.?error|connection.?refused|connection.?lost|websocket.?closed|websocket.?error|other side closed|fetch failed|upstream.?connect|reset before headers|socket hang up|ended without|http2 request did not get a response|timed? out|timeout|terminated|retry delay/i;

// Longer than any hook may take.
const HOOK_MS = 5000;

// How long after the time of a retry, or behind an error, Pi may take to go on.
const GRACE_MS = 3000;
const ERROR_MS = 700;
// A compaction that is to make room for the same prompt ends with an event, but not when it fails.
const COMPACTION_MS = 300000;

// What outlives a reload of this module: Pi loads it anew for each session of the same process.
const life = (globalThis[Symbol.for('csd')] ??= { listens: false, ended: false, end: () => {} });

export default function (pi) {
  if (!exe || !root || !name) return;

  let session = {};
  let turn = ''; // the id of the running turn, or of the last one: that of its prompt in the session file
  let asked = null; // a prompt on its way into the session
  let count = 0;
  let attempt = 0;
  let held = null; // a stop that is none if Pi tries again
  let timer = null;

  const tell = (event, more = {}) => {
    try {
      const said = { hook_event_name: event, ...session, turn_id: turn || undefined, ...more };
      const env = { ...process.env, GOMAXPROCS: '1' }; // it starts faster so
      spawnSync(exe, ['hook', 'pi', root, name], { input: JSON.stringify(said), timeout: HOOK_MS, stdio: ['pipe', 'ignore', 'ignore'], env });
    } catch { /* csd misses it; Pi goes on */ }
  };
  const state = (word) => {
    try {
      const path = join(home, 'csd-state.json');
      if (!word) return rmSync(path, { force: true });
      writeFileSync(path + '.tmp', JSON.stringify({ state: word, pid: process.pid, session_id: session.session_id, since: Date.now() }), { mode: 0o600 });
      renameSync(path + '.tmp', path);
    } catch { /* a hint, no more */ }
  };
  const look = (ctx) => {
    try {
      const m = ctx.sessionManager;
      session = { session_id: m.getSessionId(), transcript_path: m.getSessionFile(), cwd: m.getCwd(), pid: process.pid };
    } catch { /* the last known stands */ }
  };

  const stop = (more) => { attempt = 0; state('idle'); tell('stop', more); };
  const drop = () => { clearTimeout(timer); timer = null; const was = held; held = null; return was; };
  const flush = () => { const was = drop(); if (was) stop(was); };
  const hold = (ms, more) => { drop(); held = more; timer = setTimeout(flush, ms); timer.unref?.(); };
  const end = (reason) => { if (life.ended) return; life.ended = true; flush(); tell('session_end', { reason }); state(''); };
  life.end = end;
  if (!life.listens) {
    life.listens = true;
    // With another listener Pi shuts down in order; without one it is killed on the spot.
    process.on('SIGTERM', () => {});
    // The end of the terminal leaves Pi no more than this.
    process.on('exit', () => life.end('exit'));
  }

  const retrySettings = (cwd) => {
    let r = { enabled: true, maxRetries: 3, baseDelayMs: 2000 };
    for (const file of [join(home ?? '', 'settings.json'), join(cwd ?? '', '.pi', 'settings.json')]) {
      try { r = { ...r, ...JSON.parse(readFileSync(file, 'utf8')).retry }; } catch { /* none there */ }
    }
    return r;
  };

  // A prompt has no id before it is in the session, and Pi puts it there right behind the handlers of message_end.
  const entered = (ctx, prompt, tries) => {
    let entry = null;
    try { entry = ctx.sessionManager.getLeafEntry?.() ?? null; } catch { /* asked again below */ }
    const there = entry?.type === 'message' && entry.message?.role === 'user';
    if (!there && tries > 0) return void setTimeout(() => entered(ctx, prompt, tries - 1), 2);
    turn = there ? entry.id : `${session.session_id}-${++count}`;
    tell('user_prompt_submit', { prompt });
  };
  const textOf = (message) => typeof message?.content === 'string' ? message.content
    : (message?.content ?? []).filter((c) => c.type === 'text').map((c) => c.text).join('\n');

  pi.on('session_start', (e, ctx) => {
    look(ctx);
    life.ended = false;
    turn = '';
    state('idle');
    tell('session_start', { source: e.reason });
  });
  pi.on('input', (e, ctx) => {
    if (e.source !== 'interactive') return;
    look(ctx);
    const plain = e.text.startsWith(TEXT);
    const text = plain ? e.text.slice(TEXT.length) : e.text;
    // A prompt for the running turn is no event of its own later.
    if (!ctx.isIdle()) tell('user_prompt_submit', { prompt: text, queued: true });
    if (!plain) return;
    if (!text.startsWith('/')) return { action: 'transform', text };
    // What Pi is handed here it neither runs nor expands.
    pi.sendUserMessage(text, { deliverAs: 'steer' });
    return { action: 'handled' };
  });
  pi.on('before_agent_start', (e, ctx) => { look(ctx); flush(); asked = e.prompt; state('working'); });
  pi.on('message_end', (e, ctx) => {
    if (e.message?.role !== 'user' || asked === null) return;
    const prompt = asked;
    asked = null;
    setImmediate(() => entered(ctx, prompt, 200));
  });
  pi.on('agent_start', () => { drop(); state('working'); });
  pi.on('session_before_compact', () => { if (held) hold(COMPACTION_MS, held); });
  pi.on('session_compact', () => { if (held) hold(GRACE_MS, held); });
  pi.on('tool_execution_start', (e, ctx) => {
    look(ctx);
    tell('pre_tool_use', { tool_name: e.toolName, tool_use_id: e.toolCallId, tool_input: e.args });
  });
  pi.on('tool_execution_end', (e) => {
    tell('post_tool_use', { tool_name: e.toolName, tool_use_id: e.toolCallId, is_error: !!e.isError });
  });
  pi.on('agent_end', (e, ctx) => {
    look(ctx);
    const said = (e.messages ?? []).filter((m) => m.role === 'assistant');
    const last = said[said.length - 1];
    const more = {
      last_assistant_message: said.map(textOf).filter((t) => t.trim()).pop() ?? '',
      stop_reason: last?.stopReason,
      ...(last?.errorMessage ? { error: last.errorMessage } : {}),
    };
    if (last?.stopReason !== 'error') return stop(more);
    const r = retrySettings(ctx.cwd);
    if (r.enabled && attempt < r.maxRetries && AGAIN.test(last.errorMessage ?? '')) {
      attempt++;
      state('retrying');
      return hold(r.baseDelayMs * 2 ** (attempt - 1) + GRACE_MS, more);
    }
    hold(ERROR_MS, more);
  });
  pi.on('session_shutdown', (e, ctx) => {
    look(ctx);
    if (e.reason === 'quit') end('quit');
    else flush(); // another session begins in this process
  });
}
