/* What `/ui/data/time…` answers with. */

import type { MindTurn as Turn } from '../../parts/contract'

export type { DayPage as Day, Growth as Bars, MindTurn as Turn } from '../../parts/contract'

export const turnKey = (turn: Turn) => `${turn.is} ${turn.newer.id} ${turn.older.id}`
