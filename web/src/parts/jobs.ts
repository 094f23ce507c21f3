/* The jobs of sleep and the tasks of consolidation, by name. */

/** A name, and what the job does. */
export const JOBS: Record<string, [string, string]> = {
  importance_scorer: ['Importance', 'reckons how much each memory matters, from its use, connections and freshness'],
  index_updater: ['Files', 'finds files and journals that changed unseen'],
  duplicate_merger: ['Duplicates', 'makes one memory of two that say the same'],
  conflict_detector: ['Conflicts', 'finds what replaced what, and what contradicts what'],
  auto_linker: ['Connections', 'connects memories that have to do with each other'],
  auto_cluster: ['Spaces', 'gives memories without a space that of their neighbours'],
  consolidator: ['Digests', 'writes one memory for several that are close, and archives those'],
  decay_manager: ['Fading', 'archives what nobody has used for long and matters little'],
  update_spotter: ['Updates', 'suspects what new memories replace, between the nights'],
  decay: ['Relevance', 'reckons how relevant each memory still is'],
  creative: ['Associations', 'discovers connections that nobody drew'],
  cluster: ['Patterns', 'writes summaries of groups of similar memories'],
  forget: ['Forgetting', 'archives, and much later forgets, what is no longer relevant'],
}

/** Why a run failed; what a bug is called in a program says nothing to a person. */
export const failure = (error: string, kind: string | null | undefined) =>
  kind === 'error' ? error.replace(/^\w*: ?/, 'something went wrong inside: ') : error

export const jobName = (id: string | null) => JOBS[id ?? '']?.[0] ?? id ?? ''
