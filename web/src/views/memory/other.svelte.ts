/* The other memory of a dialog, as it is now: asked for anew whenever memories change. */

import { get } from '../../parts/api'
import { asking, type Asked } from '../../parts/asking.svelte'
import { MEMORIES } from '../../parts/events.svelte'
import type { Brief } from '../../parts/values'
import type { Whole } from './values'

export function watching(other: () => Brief | null): Asked<Whole | null> {
  return asking((signal) => {
    const id = other()?.id
    return id ? get<Whole>(`/ui/data/memory/${id}`, {}, signal) : Promise.resolve(null)
  }, MEMORIES)
}
