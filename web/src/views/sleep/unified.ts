/* A unified difference taken apart into the two sides of each file. Lines are counted as its hunks
   say, so that no text of a memory can pass for a line of ours. */

export interface Sides {
  title: string
  before: string
  after: string
  /** Said instead of sides: the file goes elsewhere as it is. */
  moved: string | null
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/

export function sides(text: string): Sides[] {
  const lines = text.split('\n')
  const found: Sides[] = []
  let at = 0
  while (at < lines.length) {
    const line = lines[at]!
    if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) {
      const [one, end] = file(lines, at)
      found.push(one)
      at = end
    } else {
      if (line.trim()) found.push({ title: '', before: '', after: '', moved: line })
      at++
    }
  }
  return found
}

function file(lines: string[], start: number): [Sides, number] {
  const [from, to] = [lines[start]!.slice(4).trim(), lines[start + 1]!.slice(4).trim()]
  const left: string[] = []
  const right: string[] = []
  let at = start + 2
  for (let hunk = HUNK.exec(lines[at] ?? ''); hunk; hunk = HUNK.exec(lines[at] ?? '')) {
    if (left.length || right.length) [left, right].forEach((side) => side.push('⋯'))
    let [minus, plus] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)]
    for (at++; (minus > 0 || plus > 0) && at < lines.length; at++) {
      const [sign, rest] = [lines[at]!.charAt(0), lines[at]!.slice(1)]
      if (sign !== '+') [minus] = [minus - 1, left.push(rest)]
      if (sign !== '-') [plus] = [plus - 1, right.push(rest)]
    }
  }
  const title =
    from === '/dev/null' ? `${to} (new)` : to === '/dev/null' ? `${from} (goes)` : from === to ? to : `${from} → ${to}`
  return [{ title, before: left.join('\n'), after: right.join('\n'), moved: null }, at]
}
