/* What the daemon tells about how everything runs. */

export type { HomeJob, HomePage as Home, PromptMark as Prompt, PromptTimes as Prompts } from '../../parts/contract'
