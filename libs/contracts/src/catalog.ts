import { z } from 'zod'
import { ChangeData } from './event.js'

/** One declared event type: what it means and the schema of its `data`. */
export interface EventDefinition {
  description: string
  data: z.ZodType
}

/** `data` of a resource event: before, after, changes, and the extras of this type; nothing else. */
export function resourceEvent(
  resource: z.ZodType,
  description: string,
  extras: z.ZodRawShape = {},
): EventDefinition {
  const { changes } = ChangeData.shape
  const data = z.object({ before: resource.nullable(), after: resource.nullable(), changes, ...extras })
  return { description, data }
}
