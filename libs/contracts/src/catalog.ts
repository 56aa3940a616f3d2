import { z } from 'zod'
import { ChangeData } from './event.js'

/** One declared event type: what it means and the schema of its `data`. */
export interface EventDefinition<Data extends z.ZodType = z.ZodType> {
  description: string
  data: Data
}

type NoExtras = Record<never, never>

/** The schema of a resource event's `data`. */
export type ResourceData<Resource extends z.ZodType, Extras extends z.ZodRawShape = NoExtras> = z.ZodObject<
  {
    before: z.ZodNullable<Resource>
    after: z.ZodNullable<Resource>
    changes: z.ZodArray<z.ZodString>
  } & Extras
>

/** `data` of a resource event: before, after, changes, and the extras of this type; nothing else. */
export function resourceEvent<Resource extends z.ZodType, Extras extends z.ZodRawShape = NoExtras>(
  resource: Resource,
  description: string,
  extras?: Extras,
): EventDefinition<ResourceData<Resource, Extras>>
export function resourceEvent(
  resource: z.ZodType,
  description: string,
  extras: z.ZodRawShape = {},
): EventDefinition {
  const { changes } = ChangeData.shape
  const data = z.object({ before: resource.nullable(), after: resource.nullable(), changes, ...extras })
  return { description, data }
}
