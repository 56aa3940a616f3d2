import { z } from 'zod'
import { Filter } from './filter.js'

/**
 * What narrows a principal beyond its permissions, as an embed or a signed link does. A route takes a restricted principal
 * only where it says that it honours each of the restrictions there are; until then it refuses it.
 */
export const Restrictions = z
  .strictObject({
    environments: z.array(z.string()).min(1),
    /** First segments of the permissions it may use, such as `tables`. */
    families: z.array(z.string()).min(1),
    /** Rows that do not match are not there, whatever is asked. */
    rows: Filter,
  })
  .partial()
export type Restrictions = z.infer<typeof Restrictions>

/** Those that a route has to honour by itself: environments are compared before any route is asked. */
export const honourableRestrictions = ['families', 'rows'] as const satisfies readonly (keyof Restrictions)[]
export type HonourableRestriction = (typeof honourableRestrictions)[number]
