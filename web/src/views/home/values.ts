/* What the daemon tells for the first view. */

export type {
  AboutMemory,
  AboutPage as About,
  AttentionItem as Attention,
  FiguresPage as Figures,
  HomePage as Home,
  ProjectCard,
  ProjectPage as Projects,
} from '../../parts/contract'

/** The headings under which memories about the person stand. */
export const GROUPS = ['identity', 'preferences', 'people', 'places', 'goals'] as const
export type Group = (typeof GROUPS)[number]
