/* The page's own colours, for what draws its own pixels. */

export const HUES = ['hue-1', 'hue-2', 'hue-3', 'hue-4', 'hue-5', 'hue-6', 'hue-7', 'hue-8', 'hue-9', 'hue-10'] as const
const NAMES = [
  'paper',
  'card',
  'sunk',
  'line',
  'line-strong',
  'ink',
  'ink-soft',
  'accent',
  'on-accent',
  ...HUES,
] as const
export type Colours = Record<(typeof NAMES)[number], string>

export function colours(): Colours {
  const style = getComputedStyle(document.documentElement)
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Colours
}

/** Mix two colours such as `#aabbcc`; 0 is the one, 1 the other. */
export function mix(one: string, other: string, share: number): string {
  const [a, b] = [parts(one), parts(other)]
  return `#${a
    .map((each, at) =>
      Math.round(each + (b[at]! - each) * share)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}

function parts(colour: string): number[] {
  const digits = colour.replace('#', '')
  return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16) || 0)
}
