/* The views: where each is, its key after `g`, and its code, loaded when it is opened. */

import type { Component } from 'svelte'
import type { IconName } from './parts/Icon.svelte'
import { t } from './parts/messages'

export interface View {
  name: string
  /** Below /ui; `:id` stands for one part of the path. */
  paths: string[]
  /** In the bar, with its key; views without it are reached by links. */
  bar?: { key: string; icon: IconName; label: string }
  /** Whether it takes the whole width. */
  full?: boolean
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each view has properties of its own
  load: () => Promise<{ default: Component<any> }>
}

export const VIEWS: View[] = [
  {
    name: 'home',
    paths: ['/'],
    bar: { key: 'h', icon: 'home', label: t('frame.home') },
    load: () => import('./views/home/Home.svelte'),
  },
  {
    name: 'search',
    paths: ['/search'],
    bar: { key: 's', icon: 'search', label: t('frame.search2') },
    load: () => import('./views/search/Search.svelte'),
  },
  {
    name: 'graph',
    paths: ['/graph'],
    bar: { key: 'g', icon: 'graph', label: t('frame.graph') },
    load: () => import('./views/graph/Graph.svelte'),
  },
  {
    name: 'whispers',
    paths: ['/whispers', '/whispers/:id'],
    bar: { key: 'w', icon: 'whispers', label: t('frame.whispers') },
    load: () => import('./views/whispers/Whispers.svelte'),
  },
  {
    name: 'sleep',
    paths: ['/sleep', '/sleep/:id'],
    bar: { key: 'n', icon: 'sleep', label: t('frame.sleep') },
    load: () => import('./views/sleep/Sleep.svelte'),
  },
  {
    name: 'time',
    paths: ['/time'],
    bar: { key: 't', icon: 'time', label: t('frame.time') },
    load: () => import('./views/time/Time.svelte'),
  },
  {
    name: 'activity',
    paths: ['/activity', '/trash'],
    bar: { key: 'a', icon: 'activity', label: t('frame.activity') },
    load: () => import('./views/activity/Activity.svelte'),
  },
  {
    name: 'status',
    paths: ['/status'],
    load: () => import('./views/status/Status.svelte'),
  },
  {
    name: 'project',
    paths: ['/projects/:id'],
    load: () => import('./views/project/Project.svelte'),
  },
  {
    name: 'memory',
    paths: ['/m/:id'],
    load: () => import('./views/memory/Memory.svelte'),
  },
]

export interface Found {
  view: View
  params: Record<string, string>
}

/** Return the view of a path, with what its parts stand for. */
export function viewOf(path: string): Found | null {
  for (const view of VIEWS)
    for (const pattern of view.paths) {
      const params = match(pattern, path)
      if (params) return { view, params }
    }
  return null
}

function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/')
  const given = (path.replace(/\/+$/, '') || '/').split('/')
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(given[at]!)
    else if (part !== given[at]) return null
  }
  return params
}
