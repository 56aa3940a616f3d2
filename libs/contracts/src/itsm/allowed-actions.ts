import { z } from 'zod'
import type { Permission } from '../core/permissions.js'

/** Permission required by each action; `null` if it needs none, or if only particular persons may perform it. */
type ActionNeeds = Readonly<Record<string, Permission | null>>

/** Needs of the schemas created by `allowedActionsSchema`: responses omit actions the caller may not perform. */
export const actionNeeds = z.registry<{ needs: ActionNeeds }>()

/**
 * The actions a record allows its reader. `allowed` describes the conditions besides permissions. Permissions are
 * checked when a request is answered, because records and events know no caller.
 */
export function allowedActionsSchema<Action extends Readonly<Record<string, string>>>(
  action: z.ZodEnum<Action>,
  needs: Readonly<Record<Action[keyof Action], Permission | null>>,
  allowed: string,
): z.ZodArray<z.ZodEnum<Action>> {
  const schema = z
    .array(action)
    .meta({ description: `Actions that ${allowed} permits and for which the caller has the permission.` })
  actionNeeds.add(schema, { needs })
  return schema
}

/** Sets the same permission for all actions, with some exceptions. */
export function requireForAll<Action extends string>(
  actions: readonly Action[],
  permission: Permission,
  but: Partial<Record<Action, Permission | null>> = {},
): Record<Action, Permission | null> {
  const needs = actions.map((action) => [action, but[action] === undefined ? permission : but[action]])
  // Every action is among its keys.
  return Object.fromEntries(needs) as Record<Action, Permission | null>
}
