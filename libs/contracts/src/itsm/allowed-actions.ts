import { z } from 'zod'
import type { Permission } from '../core/permissions.js'

/** By action the permission it takes; null where it takes none, or only particular persons may do it. */
type ActionNeeds = Readonly<Record<string, Permission | null>>

/** Of the schemas that `allowedActionsSchema` has made: what an answer keeps from callers who may not do it. */
export const actionNeeds = z.registry<{ needs: ActionNeeds }>()

/**
 * The actions a record allows its reader. `allowed` describes the further conditions besides permissions, which
 * are looked at where a request is answered: records and events know no caller.
 */
export function allowedActionsSchema<Action extends Readonly<Record<string, string>>>(
  action: z.ZodEnum<Action>,
  needs: Readonly<Record<Action[keyof Action], Permission | null>>,
  allowed: string,
): z.ZodArray<z.ZodEnum<Action>> {
  const schema = z
    .array(action)
    .meta({ description: `What ${allowed} allows, as far as the caller has the permission for it.` })
  actionNeeds.add(schema, { needs })
  return schema
}

/** For actions that all take the same permission, but for some. */
export function requireForAll<Action extends string>(
  actions: readonly Action[],
  permission: Permission,
  but: Partial<Record<Action, Permission | null>> = {},
): Record<Action, Permission | null> {
  const needs = actions.map((action) => [action, but[action] === undefined ? permission : but[action]])
  // Every action is among its keys.
  return Object.fromEntries(needs) as Record<Action, Permission | null>
}
