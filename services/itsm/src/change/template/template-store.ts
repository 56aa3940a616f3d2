import {
  ApiError,
  builtInClasses,
  type ChangeTemplate,
  type ChangeTemplatePatch,
  type CommandMeta,
  type ErrorDetail,
  type NewChangeTemplate,
  newId,
  type TenantScope,
} from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { and, inArray } from 'drizzle-orm'
import { tenantConditions } from '../../lists/tenant-conditions.js'
import { ciClasses } from '../../schema/cmdb.js'
import { changeTemplate } from './template.js'

/** Templates of standard changes, and the commands that need to check the existing classes. */
export function templateStore({ store, database: { db } }: ServiceContext) {
  const aggregate = store.aggregate(changeTemplate)
  return {
    ...aggregate,
    async add(input: NewChangeTemplate, meta: CommandMeta): Promise<ChangeTemplate> {
      await checkClasses(db, meta.tenant, input.ciClasses)
      const id = newId('changeTemplate')
      return aggregate.create(id, { kind: 'create', id, input, now: meta.now }, meta)
    },
    async patch(id: string, patch: ChangeTemplatePatch, meta: CommandMeta): Promise<ChangeTemplate> {
      await checkClasses(db, meta.tenant, patch.ciClasses)
      return aggregate.handle(id, { kind: 'patch', patch, now: meta.now }, meta)
    },
  }
}

/**
 * Throws validation_failed naming each class that does not exist. Classes are never deleted, so one check is
 * enough.
 */
async function checkClasses(
  db: Drizzle,
  tenant: TenantScope,
  names: readonly string[] | null | undefined,
): Promise<void> {
  const own = names?.filter((name) => !Object.hasOwn(builtInClasses, name)) ?? []
  if (!names || own.length === 0) return
  const rows = await db
    .select({ name: ciClasses.name })
    .from(ciClasses)
    .where(and(...tenantConditions(ciClasses, tenant), inArray(ciClasses.name, own)))
  const known = new Set(rows.map(({ name }) => name))
  const message = 'There is no such class in this workspace and environment.'
  const details = names.flatMap((name, index): ErrorDetail[] =>
    own.includes(name) && !known.has(name)
      ? [{ in: 'body', path: `/ciClasses/${index}`, code: 'unknown_class', message }]
      : [],
  )
  if (details.length > 0) throw new ApiError('validation_failed', message, { details })
}
