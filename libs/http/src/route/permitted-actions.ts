import { actionNeeds } from '@opsplane/contracts'
import { z } from 'zod'
import type { ListPage } from './list.js'
import type { Route } from './route.js'

type Permissions = readonly string[]
/** Removes actions the caller may not perform. */
type Narrow = (value: unknown, permissions: Permissions) => unknown

/**
 * Filters a route's response for its caller: of a record's actions (`allowedActionsSchema`), only those the caller has
 * the permission for remain. `undefined` if the response has no actions, or if the caller is anonymous.
 */
export function createActionFilter(route: Route): Narrow | undefined {
  if (
    route.scope === 'public' ||
    route.scope === 'service' ||
    route.kind === 'stream' ||
    route.kind === 'document' ||
    route.kind === 'raw'
  )
    return undefined
  const narrow = narrowed(route.response)
  if (narrow === undefined || route.kind === 'single') return narrow
  return (data, permissions) => {
    const page = data as ListPage<unknown>
    return { ...page, items: page.items.map((item) => narrow(item, permissions)) }
  }
}

function narrowed(schema: z.ZodType): Narrow | undefined {
  const needs = actionNeeds.get(schema)?.needs
  if (needs)
    return (actions, permissions) =>
      (actions as string[]).filter((action) => {
        const need = needs[action]
        return need === null || need === undefined || permissions.includes(need)
      })
  if (schema instanceof z.ZodArray) {
    const each = narrowed(schema.element as z.ZodType)
    return each && ((list, permissions) => (list as unknown[]).map((one) => each(one, permissions)))
  }
  return schema instanceof z.ZodObject ? narrowedFields(schema) : undefined
}

function narrowedFields({ shape }: z.ZodObject): Narrow | undefined {
  const fields = Object.entries(shape).flatMap(([name, field]) => {
    const narrow = narrowed(field as z.ZodType)
    return narrow ? [{ name, narrow }] : []
  })
  if (fields.length === 0) return undefined
  return (value, permissions) => {
    const record = value as Record<string, unknown>
    const own = fields.map(({ name, narrow }) => [name, narrow(record[name], permissions)])
    return { ...record, ...Object.fromEntries(own) }
  }
}
