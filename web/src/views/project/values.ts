/* The types of memories that stand under each heading of a project. */

export const TYPES_OF: Record<string, string[]> = {
  about: ['project'],
  goals: ['goal'],
  rules: ['preference'],
  decisions: ['decision'],
  procedures: ['procedure'],
  people: ['person'],
  facts: ['fact', 'concept', 'observation', 'event'],
}
