import { fileURLToPath } from 'node:url'
import { type Column, newId, notFound, type TableState, type TenantScope } from '@opsplane/contracts'
import { defineService } from '@opsplane/service'
import { startTestService, type TestService } from '@opsplane/testing'
import { loadConfig, type StudioConfig } from '../config.js'
import { createDataPlane, type DataPlane } from '../plane/data-plane.js'
import { provisionPlane } from '../plane/provision-plane.js'
import { table as tableDecider } from '../table/domain.js'
import { bulkRoutes } from './bulk-routes.js'
import { createRecordServices } from './record-services.js'
import { recordRoutes } from './routes.js'
import { transferRoutes } from './transfer-routes.js'

const types: Record<string, (column: Column) => string> = {
  text: () => 'text',
  integer: () => 'integer',
  bigint: () => 'bigint',
  boolean: () => 'boolean',
  date: () => 'date',
  timestamp: () => 'timestamptz(3)',
  json: () => 'jsonb',
  uuid: () => 'uuid',
  enum: () => 'text',
  decimal: (c) =>
    c.type === 'decimal' && c.precision ? `numeric(${c.precision},${c.scale ?? 0})` : 'numeric',
  reference: (c) =>
    c.type === 'reference'
      ? `text references "${c.table}" on delete ${c.onDelete.replace('_', ' ')}`
      : 'text',
  computed: (c) =>
    c.type === 'computed'
      ? `${c.resultType === 'decimal' ? 'numeric' : c.resultType} generated always as (${c.expression}) stored`
      : '',
}

export async function startStudio() {
  const tables = new Map<string, TableState>()
  let plane: DataPlane | undefined
  const nameOf = (tenant: TenantScope, slug: string) => `${tenant.workspaceId}/${tenant.environment}/${slug}`
  const definitions = {
    get: async (tenant: TenantScope, slug: string) => {
      const found = tables.get(nameOf(tenant, slug))
      if (!found) throw notFound()
      return found
    },
    forget() {},
  }
  const service = defineService<StudioConfig>({
    name: 'database-studio',
    loadConfig,
    migrationsDir: fileURLToPath(new URL('../../migrations', import.meta.url)),
    afterMigrations: provisionPlane,
    deciders: [tableDecider],
    setup(ctx) {
      plane = createDataPlane(ctx)
      const services = createRecordServices(ctx, { plane, definitions })
      return {
        routes: [...recordRoutes(services), ...bulkRoutes(services), ...transferRoutes(services)],
        background: [plane],
      }
    },
  })
  const studio: TestService = await startTestService(service)
  return {
    studio,
    async addTable(tenant: TenantScope, definition: TableState) {
      if (!plane) throw new Error('not started')
      const { schema } = await plane.space(tenant)
      const table = { ...definition, id: newId('table') }
      const columns = table.columns.map((c) => {
        const byDefault = c.default === null ? '' : ` default '${String(c.default)}'`
        const check =
          c.type === 'enum' ? ` check (${c.name} in (${c.values.map((v) => `'${v}'`).join()}))` : ''
        return `"${c.name}" ${types[c.type]?.(c)}${c.nullable ? '' : ' not null'}${c.unique ? ' unique' : ''}${byDefault}${check}`
      })
      const indexes = table.indexes.map(({ name, columns: of, kind }) => {
        const last = of.at(-1)?.direction ?? 'asc'
        const list = of.map((c) => `"${c.name}" ${c.direction}`).join(', ')
        if (kind === 'btree') return `create index on ${schema}.${table.slug} (${list}, id ${last})`
        return `create index ${name} on ${schema}.${table.slug} using gin (${of.map((c) => `"${c.name}" extensions.gin_trgm_ops`).join()})`
      })
      await studio.sql.begin(async (tx) => {
        await tx.unsafe(`set local role ${schema}_owner; set local search_path = ${schema}`)
        await tx.unsafe(`create table ${schema}.${table.slug} (id text primary key default studio.new_record_id(), version integer not null,
          created_at timestamptz(3) not null, updated_at timestamptz(3) not null, ${columns.join(', ')})`)
        for (const index of indexes) await tx.unsafe(index)
        await tx.unsafe('reset role; set local search_path = database_studio')
        await tx.unsafe('select database_studio.attach_capture($1, $2, $3, $3)', [
          table.id,
          schema,
          table.slug,
        ])
      })
      tables.set(nameOf(tenant, table.slug), table)
      return table
    },
  }
}
