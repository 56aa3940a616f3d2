import {
  ApiError,
  type Connector,
  type ConnectorPatch,
  type NewConnector,
  newId,
  notFound,
} from '@opsplane/contracts'
import { parseField, type RequestMeta, type SecretTargets } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { type Limits, quotaExceeded } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import { and, eq } from 'drizzle-orm'
import type { Kinds } from '../kind/kinds.js'
import { refuseStrayBraces } from '../kind/references.js'
import { connectors as table } from '../schema.js'
import { connector } from './domain.js'

export type Connectors = ReturnType<typeof createConnectors>

/** Creates and updates connectors, with configurations validated by their kinds. */
export function createConnectors(
  { store, database }: Pick<ServiceContext, 'store' | 'database'>,
  kinds: Kinds,
  { limits, secretTargets }: { limits: Limits; secretTargets: SecretTargets },
) {
  const aggregate = store.aggregate(connector)

  const accepted = (kindName: string, rawConfig: unknown): Record<string, unknown> => {
    const kind = kinds.named(kindName)
    const config = parseField(kind.config, 'config', rawConfig)
    refuseStrayBraces(config)
    kind.check(config)
    return { ...config }
  }

  return {
    aggregate,

    /** Throws `conflict` if the name is taken. */
    create: async (body: NewConnector, meta: RequestMeta): Promise<Connector> => {
      await refuseTooMany(database, limits, meta)
      const fields = { ...body, config: accepted(body.kind, body.config) }
      const id = newId('connector')
      const command = { kind: 'create' as const, id, fields, caller: meta.principal, now: meta.now }
      await secretTargets.require(meta, kinds.named(body.kind).secretTargets(fields.config))
      return rejectDuplicateName(aggregate.create(id, command, meta))
    },

    update: async (id: string, body: ConnectorPatch, meta: RequestMeta): Promise<Connector> => {
      const found = await aggregate.find(id, meta.tenant)
      if (!found) throw notFound()
      const config = body.config && accepted(found.state.kind, body.config)
      const patch = { ...body, ...(config && { config }) }
      const { state } = found
      if (config || (body.enabled && !state.enabled))
        await secretTargets.require(meta, kinds.named(state.kind).secretTargets(config ?? state.config))
      return rejectDuplicateName(
        aggregate.handle(id, { kind: 'update', patch, caller: meta.principal, now: meta.now }, meta),
      )
    },

    delete: async (id: string, meta: RequestMeta): Promise<void> => {
      await aggregate.handle(id, { kind: 'delete' }, meta)
    },
  }
}

const isNameConflict = (error: unknown) =>
  error instanceof ApiError && error.details[0]?.params?.constraint === 'connectors_name_key'

async function rejectDuplicateName<Result>(saved: Promise<Result>): Promise<Result> {
  try {
    return await saved
  } catch (error) {
    if (!isNameConflict(error)) throw error
    const message = 'A connector with this name already exists in this environment.'
    throw new ApiError('conflict', message, {
      details: [{ in: 'body', path: '/name', code: 'not_unique', message }],
      cause: error,
    })
  }
}

/** The check is not atomic: concurrent creations may exceed the limit slightly. */
async function refuseTooMany({ db }: Database, limits: Limits, { tenant }: RequestMeta): Promise<void> {
  const { workspaceId, environment } = tenant
  const maxConnectors = limits.of('connectors', workspaceId)
  if (maxConnectors === 0) return
  const present = await db.$count(
    table,
    and(eq(table.workspaceId, workspaceId), eq(table.environment, environment)),
  )
  if (present >= maxConnectors) throw quotaExceeded('connectors', maxConnectors)
}
