import { z } from 'zod'
import { Filter } from './filter.js'

/**
 * Limits of a principal beyond its permissions, used by embeds and signed links. A route rejects a restricted principal
 * unless it declares that it enforces each of the principal's restrictions.
 */
export const Restrictions = z
  .strictObject({
    environments: z.array(z.string()).min(1),
    /** First segments of the permissions that may be used, such as `tables`. */
    families: z.array(z.string()).min(1),
    /** Rows that do not match are treated as nonexistent. */
    rows: Filter,
  })
  .partial()
export type Restrictions = z.infer<typeof Restrictions>

/** Restrictions that each route must enforce itself: environments are checked before any route runs. */
export const honourableRestrictions = ['families', 'rows'] as const satisfies readonly (keyof Restrictions)[]
export type HonourableRestriction = (typeof honourableRestrictions)[number]
