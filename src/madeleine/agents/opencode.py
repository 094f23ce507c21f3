"""The plugin for OpenCode, which has no hooks that are commands: a little JavaScript runs ours.

It adds what is whispered as one more part of the person's message, marked as made by a machine, and
says nothing where anything goes wrong.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

_PLUGIN_TEMPLATE = """\
// Written by `madeleine setup`; `madeleine unsetup opencode` removes it.
import { spawn } from "node:child_process"

const WORDS = %(words)s
const LIMIT_MS = 2000

function whisper(call) {
  return new Promise((resolve) => {
    const child = spawn(WORDS[0], WORDS.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
    const late = setTimeout(() => child.kill(), LIMIT_MS)
    let out = ""
    child.stdout.on("data", (part) => (out += part))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve(""))
    child.on("close", () => {
      clearTimeout(late)
      try {
        resolve(JSON.parse(out).hookSpecificOutput.additionalContext ?? "")
      } catch {
        resolve("") // silence
      }
    })
    child.stdin.end(JSON.stringify(call))
  })
}

const begun = new Set()

export const Madeleine = async ({ directory }) => ({
  "chat.message": async (input, output) => {
    const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic)
    const prompt = typed.map((part) => part.text).join("\\n")
    if (!prompt) return
    const call = { session_id: input.sessionID, cwd: directory }
    const texts = []
    if (!begun.has(input.sessionID)) {
      begun.add(input.sessionID)
      texts.push(await whisper({ ...call, hook_event_name: "SessionStart", source: "startup" }))
    }
    texts.push(await whisper({ ...call, prompt }))
    const text = texts.filter(Boolean).join("\\n")
    if (!text) return
    const id = typed[0].id.slice(0, 4) + "madeleine" + Date.now().toString(36)
    output.parts.push({ ...typed[0], id, text, synthetic: true })
  },
})
"""


def render_plugin(words: Sequence[str]) -> str:
    """Return the plugin that runs these words."""
    return _PLUGIN_TEMPLATE % {"words": json.dumps(list(words), ensure_ascii=False)}
