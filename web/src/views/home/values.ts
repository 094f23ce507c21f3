/* What the daemon tells for the first view. */

export type {
  AttentionItem as Attention,
  GrowthBar as Bar,
  HomeJob,
  HomePage as Home,
  PromptMark as Prompt,
  PromptTimes as Prompts,
} from '../../parts/contract'
