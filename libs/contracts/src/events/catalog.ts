import { z } from 'zod'
import { ChangeData } from './event.js'

/** One declared event type: its description and the schema of its `data`. */
export interface EventDefinition<Data extends z.ZodType = z.ZodType> {
  description: string
  data: Data
}

const ResourceVersion = z.int().min(1).meta({ description: 'Version of the resource after the event.' })

type NoExtras = Record<never, never>

/** The schema of a resource event's `data`. */
type ResourceData<Resource extends z.ZodType, Extras extends z.ZodRawShape = NoExtras> = z.ZodObject<
  {
    version: z.ZodInt
    before: z.ZodNullable<Resource>
    after: z.ZodNullable<Resource>
    changes: z.ZodArray<z.ZodString>
  } & Extras
>

/** `data` of a resource event: the resource's version, before, after, changes, and the extras of this type; nothing else. */
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
  const [before, after] = [resource.nullable(), resource.nullable()]
  const data = z.object({ version: ResourceVersion, before, after, changes, ...extras })
  return { description, data }
}
