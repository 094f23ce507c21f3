/* Asking somebody before something is done that is not easily taken back. What can be undone is
   done at once, with an undo in the toast, and not asked about. */

import { t } from './messages'

export interface Question {
  title: string
  text: string
  /** The word on the button that does it. */
  yes: string
  /** Whether it takes something away. */
  bad?: boolean
  /** Also asks for a line of text, such as a reason. */
  asks?: string
}

interface Open extends Question {
  answer: (said: string | null) => void
}

export const question = $state<{ open: Open | null }>({ open: null })

/** Return what was typed (empty, if nothing is asked for), or null for no. */
export function confirm(asked: Question): Promise<string | null> {
  return new Promise((answer) => {
    question.open?.answer(null)
    question.open = {
      ...asked,
      answer: (said) => {
        question.open = null
        answer(said)
      },
    }
  })
}

/** Ask before what somebody typed is thrown away; true if it may be, or there is nothing. */
export async function mayDrop(typed: boolean): Promise<boolean> {
  if (!typed) return true
  const text = t('parts.whatYouWroteHereIs')
  return (await confirm({ title: t('parts.throwItAway'), text, yes: t('parts.throwItAway2'), bad: true })) !== null
}
