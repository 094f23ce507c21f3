"""What hosts write on a hook's stdin, byte for byte, by host and event."""

from __future__ import annotations

CLAUDE_SESSION = (
    b'{"session_id":"%(session)s","transcript_path":"/home/ana/.claude/projects/-w-atlas/'
    b'%(session)s.jsonl","cwd":"%(folder)s","hook_event_name":"SessionStart",'
    b'"source":"%(source)s","model":"claude-opus-4-6","session_title":null}'
)
CLAUDE_SUBAGENT = (
    b'{"session_id":"%(session)s","transcript_path":"/home/ana/.claude/projects/-w-atlas/'
    b'%(session)s.jsonl","cwd":"%(folder)s","prompt_id":"5f0d7c9e-8a53-4c57-a1f7-0f3b6f0a5b11",'
    b'"permission_mode":"default","agent_id":"a3f9c1d2e4b5a6978","agent_type":"Explore",'
    b'"hook_event_name":"SubagentStart"}'
)
CLAUDE_PROMPT = (
    b'{"session_id":"%(session)s","transcript_path":"/home/ana/.claude/projects/-w-atlas/'
    b'%(session)s.jsonl","cwd":"%(folder)s","prompt_id":"5f0d7c9e-8a53-4c57-a1f7-0f3b6f0a5b11",'
    b'"permission_mode":"acceptEdits","hook_event_name":"UserPromptSubmit","source":"user",'
    b'"prompt":"%(prompt)s"}'
)
CODEX_SESSION = (
    b'{"session_id":"%(session)s","transcript_path":null,"cwd":"%(folder)s",'
    b'"hook_event_name":"SessionStart","model":"gpt-5.5-codex","permission_mode":"default",'
    b'"source":"%(source)s"}'
)
CURSOR_SESSION = (
    b'{"conversation_id":"%(session)s","generation_id":"","hook_event_name":"sessionStart",'
    b'"workspace_roots":["%(folder)s"],"model":"default","cursor_version":"3.20.17",'
    b'"user_email":"ana@example.org","transcript_path":null,"session_id":"%(session)s",'
    b'"is_background_agent":false,"composer_mode":"agent"}'
)
GEMINI_SESSION = (
    b'{"session_id":"%(session)s","transcript_path":"/home/ana/.gemini/tmp/1f/chats/session.json",'
    b'"cwd":"%(folder)s","hook_event_name":"SessionStart",'
    b'"timestamp":"2026-11-18T09:12:44.031Z","source":"%(source)s"}'
)


def written(template: bytes, session: str, folder: str, **more: str) -> bytes:
    """Return what a host writes, with a session, a folder and what else differs."""
    given = {"session": session, "folder": folder, "source": "startup", **more}
    return template % {name.encode(): each.encode() for name, each in given.items()}


CLAUDE_DEED = (
    b'{"session_id":"%(session)s","transcript_path":"/home/ana/.claude/projects/-w-atlas/'
    b'%(session)s.jsonl","cwd":"%(folder)s","prompt_id":"5f0d7c9e-8a53-4c57-a1f7-0f3b6f0a5b11",'
    b'"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"%(tool)s",'
    b'"tool_input":%(input)s,"tool_use_id":"toolu_01ABCdef"}'
)
CLAUDE_FAILURE = (
    b'{"session_id":"%(session)s","transcript_path":"/home/ana/.claude/projects/-w-atlas/'
    b'%(session)s.jsonl","cwd":"%(folder)s","permission_mode":"default",'
    b'"hook_event_name":"PostToolUseFailure","tool_name":"%(tool)s","tool_input":%(input)s,'
    b'"tool_use_id":"toolu_01ABCdef","error":"%(error)s","is_interrupt":false}'
)
CODEX_DEED = (
    b'{"session_id":"%(session)s","turn_id":"t1","transcript_path":null,"cwd":"%(folder)s",'
    b'"hook_event_name":"PreToolUse","model":"gpt-5.5-codex","permission_mode":"default",'
    b'"tool_name":"%(tool)s","tool_input":%(input)s,"tool_use_id":"call_1"}'
)
GEMINI_DEED = (
    b'{"session_id":"%(session)s","transcript_path":"/home/ana/.gemini/tmp/1f/chats/session.json",'
    b'"cwd":"%(folder)s","hook_event_name":"AfterTool","timestamp":"2026-11-18T09:12:44.031Z",'
    b'"tool_name":"%(tool)s","tool_input":%(input)s,"tool_response":{"llmContent":"ok"}}'
)
CLAUDE_STOP = (
    b'{"session_id":"%(session)s","transcript_path":"/home/ana/.claude/projects/-w-atlas/'
    b'%(session)s.jsonl","cwd":"%(folder)s","prompt_id":"5f0d7c9e-8a53-4c57-a1f7-0f3b6f0a5b11",'
    b'"permission_mode":"acceptEdits","hook_event_name":"Stop","stop_hook_active":%(active)s,'
    b'"last_assistant_message":"Done.","background_tasks":[],"session_crons":[]}'
)
CODEX_PROMPT = (
    b'{"session_id":"%(session)s","turn_id":"t1","transcript_path":null,"cwd":"%(folder)s",'
    b'"hook_event_name":"UserPromptSubmit","model":"gpt-5.5-codex","permission_mode":"default",'
    b'"prompt":"%(prompt)s"}'
)
CODEX_STOP = (
    b'{"session_id":"%(session)s","turn_id":"t1","transcript_path":"%(transcript)s",'
    b'"cwd":"%(folder)s","hook_event_name":"Stop","model":"gpt-5.5-codex",'
    b'"permission_mode":"default","stop_hook_active":%(active)s,"last_assistant_message":"Done."}'
)
CURSOR_PROMPT = (
    b'{"conversation_id":"%(session)s","generation_id":"g1","hook_event_name":"beforeSubmitPrompt",'
    b'"workspace_roots":["%(folder)s"],"model":"default","cursor_version":"3.20.17",'
    b'"user_email":"ana@example.org","transcript_path":null,"prompt":"%(prompt)s","attachments":[]}'
)
CURSOR_STOP = (
    b'{"conversation_id":"%(session)s","generation_id":"g1","hook_event_name":"stop",'
    b'"workspace_roots":["%(folder)s"],"model":"default","cursor_version":"3.20.17",'
    b'"user_email":"ana@example.org","transcript_path":null,"status":"%(status)s",'
    b'"loop_count":%(loops)s}'
)
GEMINI_PROMPT = (
    b'{"session_id":"%(session)s","transcript_path":"/home/ana/.gemini/tmp/1f/chats/session.json",'
    b'"cwd":"%(folder)s","hook_event_name":"BeforeAgent","timestamp":"2026-11-18T09:12:44.031Z",'
    b'"prompt":"%(prompt)s"}'
)
GEMINI_STOP = (
    b'{"session_id":"%(session)s","transcript_path":"/home/ana/.gemini/tmp/1f/chats/session.json",'
    b'"cwd":"%(folder)s","hook_event_name":"AfterAgent","timestamp":"2026-11-18T09:12:44.031Z",'
    b'"prompt":"%(prompt)s","prompt_response":"Done.","stop_hook_active":%(active)s}'
)
CLAUDE_COMPACT = (
    b'{"session_id":"%(session)s","transcript_path":"%(transcript)s","cwd":"%(folder)s",'
    b'"hook_event_name":"PreCompact","trigger":"auto","custom_instructions":null}'
)
CLAUDE_END = (
    b'{"session_id":"%(session)s","transcript_path":"%(transcript)s","cwd":"%(folder)s",'
    b'"permission_mode":"default","hook_event_name":"SessionEnd","reason":"prompt_input_exit"}'
)
CLAUDE_STATUS = (
    b'{"hook_event_name":"Status","session_id":"%(session)s","transcript_path":"%(transcript)s",'
    b'"cwd":"%(folder)s","model":{"id":"claude-opus-4-6","display_name":"Opus"},'
    b'"workspace":{"current_dir":"%(folder)s","project_dir":"%(folder)s"},"version":"2.1.325",'
    b'"cost":{"total_cost_usd":0.01,"total_duration_ms":45000}}'
)
CODEX_COMPACT = (
    b'{"session_id":"%(session)s","turn_id":"t2","transcript_path":"%(transcript)s",'
    b'"cwd":"%(folder)s","hook_event_name":"PreCompact","model":"gpt-5.5-codex","trigger":"auto"}'
)
CODEX_SUBAGENT = (
    b'{"session_id":"%(session)s","turn_id":"t1","transcript_path":null,"cwd":"%(folder)s",'
    b'"hook_event_name":"SubagentStart","model":"gpt-5.5-codex","permission_mode":"default",'
    b'"agent_id":"agent_7","agent_type":"worker"}'
)
CODEX_END = (
    b'{"session_id":"%(session)s","transcript_path":"%(transcript)s","cwd":"%(folder)s",'
    b'"hook_event_name":"SessionEnd","reason":"other"}'
)
GEMINI_COMPACT = (
    b'{"session_id":"%(session)s","transcript_path":"%(transcript)s","cwd":"%(folder)s",'
    b'"hook_event_name":"PreCompress","timestamp":"2026-11-18T09:12:44.031Z","trigger":"auto"}'
)
GEMINI_FAILURE = (
    b'{"session_id":"%(session)s","transcript_path":"%(transcript)s","cwd":"%(folder)s",'
    b'"hook_event_name":"AfterTool","timestamp":"2026-11-18T09:12:44.031Z",'
    b'"tool_name":"%(tool)s","tool_input":%(input)s,"tool_response":{"llmContent":"it failed",'
    b'"returnDisplay":"it failed","error":{"message":"%(error)s","type":"shell_execute_error"}}}'
)
GEMINI_END = (
    b'{"session_id":"%(session)s","transcript_path":"%(transcript)s","cwd":"%(folder)s",'
    b'"hook_event_name":"SessionEnd","timestamp":"2026-11-18T09:12:44.031Z","reason":"exit"}'
)
