import { z } from 'zod'

/** An id or name in a filter. Trimmed, as on write. */
export const reference = z.string().trim().min(1).max(100)

/** A parameter that may be repeated or contain several values separated by commas. */
export const listParameter = <Value extends z.ZodType>(value: Value) =>
  z.preprocess(
    (given) => (typeof given === 'string' || Array.isArray(given) ? String(given).split(',') : given),
    z.array(value).min(1).max(20),
  )

/** Text search in a list. */
export const searchFilter = z.string().trim().min(1).max(200).optional()
export const searchSyntax =
  'All words must match, the last one by its prefix; `"…"` is a phrase, `-` excludes a word, `or` separates alternatives. ' +
  'Accents, case and punctuation are ignored. A number such as `INC-4` is one word.'
