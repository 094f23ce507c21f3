/* The jobs of sleep and the tasks of consolidation, by name. */

import { t } from './messages'

/** A name, and what the job does. */
export const JOBS: Record<string, [string, string]> = {
  importance_scorer: [t('parts.importance'), t('parts.reckonsHowMuchEachMemory')],
  index_updater: [t('parts.files'), t('parts.findsFilesAndJournalsThat')],
  duplicate_merger: [t('parts.duplicates'), t('parts.makesOneMemoryOfTwo')],
  conflict_detector: [t('parts.conflicts'), t('parts.findsWhatReplacedWhatAnd')],
  auto_linker: [t('parts.connections'), t('parts.connectsMemoriesThatHaveTo')],
  auto_cluster: [t('parts.spaces'), t('parts.givesMemoriesWithoutASpace')],
  consolidator: [t('parts.digests'), t('parts.writesOneMemoryForSeveral')],
  decay_manager: [t('parts.fading'), t('parts.archivesWhatNobodyHasUsed')],
  update_spotter: [t('parts.updates'), t('parts.suspectsWhatNewMemoriesReplace')],
  decay: [t('parts.relevance'), t('parts.reckonsHowRelevantEachMemory')],
  creative: [t('parts.associations'), t('parts.discoversConnectionsThatNobodyDrew')],
  cluster: [t('parts.patterns'), t('parts.writesSummariesOfGroupsOf')],
  forget: [t('parts.forgetting'), t('parts.archivesAndMuchLaterForgets')],
}

/** Why a run failed; what a bug is called in a program says nothing to a person. */
export const failure = (error: string, kind: string | null | undefined) =>
  kind === 'error' ? error.replace(/^\w*: ?/, t('parts.somethingWentWrongInside')) : error

export const jobName = (id: string | null) => JOBS[id ?? '']?.[0] ?? id ?? ''
