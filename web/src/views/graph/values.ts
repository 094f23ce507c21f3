/* What the daemon says about the graph. */

import type { Drawing } from '../../parts/contract'

export type {
  Drawing as Drawn,
  GraphMap as MapAnswer,
  MapTopicShape as Topic,
  GraphNode as Sketch,
  GraphOverview as Overview,
  GraphPaths as Paths,
  PathStep as Step,
  Surroundings,
} from '../../parts/contract'

/** source, target, edge, weight, and why if that was asked for */
export type Arrow = Drawing['connections'][number]
