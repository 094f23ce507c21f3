/* What is being written on the page: a new memory, or files that are brought in. Both open above any
   view; their code comes when they do. */

export interface Preset {
  text?: string
  type?: string
  space?: string | null
  about?: boolean
}

export const writing = $state<{ memory: Preset | null; files: File[] | null }>({ memory: null, files: null })

/** Begin a new memory. */
export function compose(preset: Preset = {}): void {
  writing.memory = preset
}

/** Bring files in; without any, the person chooses them. */
export function takeIn(files: readonly File[] = []): void {
  writing.files = [...files]
}
