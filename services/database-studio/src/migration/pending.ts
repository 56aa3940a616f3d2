import { invalidField, notFound } from '@opsplane/contracts'
import type { ServiceContext } from '@opsplane/service'
import type { DataPlane } from '../data-plane/data-plane.js'
import { computeChecksum, listMigrations, toSequenceName } from '../migration-ledger/ledger.js'
import { createDefine } from '../table/define.js'
import type { MigrationService } from './migration-service.js'
import type { Migrations } from './settle.js'
import { migrationStatements } from './statements.js'

/** Operations on pending migrations, which are excluded while a migration runs. */
export function pendingMigrations(
  ctx: ServiceContext,
  { plane, migrations }: { plane: DataPlane; migrations: Migrations },
): Pick<MigrationService, 'edit' | 'reorder'> {
  const { store } = ctx
  const define = createDefine(ctx)
  return {
    async edit(id, patch, meta) {
      const space = await plane.space(meta.tenant)
      return define(space, meta, async ({ tx, unit }) => {
        const current = (await listMigrations(tx, meta.tenant)).find((each) => each.id === id)
        if (!current) throw notFound()
        const { name = current.name, up = current.up, down = current.down } = patch
        const { transactional = current.transactional } = patch
        const mayBeEmpty = current.origin !== 'sql' && patch.up === undefined
        await migrationStatements(up, { transactional, path: '/up', mayBeEmpty })
        if (down !== null) await migrationStatements(down, { transactional, path: '/down', mayBeEmpty })
        const wording = { up, down, transactional }
        const to = { name, ...wording, checksum: computeChecksum(wording) }
        return unit.handle(migrations, id, { kind: 'edit', to, now: meta.now })
      })
    },
    async reorder(ids, meta) {
      const space = await plane.space(meta.tenant)
      return define(space, meta, async ({ tx, unit }) => {
        const open = (await listMigrations(tx, meta.tenant)).filter(({ status }) => status !== 'applied')
        const requestedMigrations = open.filter(({ id }) => ids.includes(id))
        if (requestedMigrations.length !== ids.length)
          throw invalidField('/ids', 'invalid_value', 'must name migrations that are not applied, each once.')
        const targetOrder = [...ids, ...open.map(({ id }) => id).filter((id) => !ids.includes(id))]
        const stay = open.findIndex(({ id }, at) => id !== targetOrder[at])
        if (stay < 0) return open
        const ordered = open.slice(0, stay)
        for (const id of targetOrder.slice(stay)) {
          const number = await store.numbers.next(
            meta.tenant.workspaceId,
            toSequenceName(meta.tenant.environment),
          )
          ordered.push(await unit.handle(migrations, id, { kind: 'place', number, now: meta.now }))
        }
        return ordered
      })
    },
  }
}
