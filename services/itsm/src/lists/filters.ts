import { z } from 'zod'

/** The id or name of something, as a filter of a list takes it: trimmed, as it was when it was kept. */
export const reference = z.string().trim().min(1).max(100)

/** A parameter that may be repeated or hold several values separated by commas. */
export const listParameter = <Value extends z.ZodType>(value: Value) =>
  z.preprocess(
    (given) => (typeof given === 'string' || Array.isArray(given) ? String(given).split(',') : given),
    z.array(value).min(1).max(20),
  )

/** Words to find in the records of a list. */
export const searchFilter = z.string().trim().min(1).max(200).optional()
export const searchSyntax =
  'All must be there, the last one may go on; `"…"` is a phrase, `-` excludes, `or` is either. Accents, case and ' +
  'punctuation do not count. A number such as `INC-4` is taken as a whole.'
