import type { TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { catalogRequests } from '../schema/catalog.js'
import { changes } from '../schema/change.js'
import { incidents } from '../schema/incident.js'
import { problems } from '../schema/problem.js'
import { findReferencedId } from './referenced-id.js'

const numberedTables = { INC: incidents, PRB: problems, CHG: changes, REQ: catalogRequests }

const isPrefix = (text: string): text is keyof typeof numberedTables => Object.hasOwn(numberedTables, text)

/**
 * Returns the filters with numbers such as `INC-12` replaced by ids in the named filters, as in paths. Other values are
 * left unchanged and match nothing.
 */
export async function resolveNumbers<Filters extends object>(
  db: Drizzle,
  tenant: TenantScope,
  filters: Filters,
  ...names: (keyof Filters & string)[]
): Promise<Filters> {
  const resolved = names.map(async (name) => {
    const reference = filters[name]
    const prefix = typeof reference === 'string' ? (reference.split('-')[0] ?? '') : ''
    if (typeof reference !== 'string' || !isPrefix(prefix)) return []
    return [[name, await findReferencedId(db, { table: numberedTables[prefix], prefix }, reference, tenant)]]
  })
  return { ...filters, ...Object.fromEntries((await Promise.all(resolved)).flat()) }
}
