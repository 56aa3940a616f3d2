import {
  AvailablePack,
  CheckPack,
  type ErrorCode,
  InstalledPack,
  InstallPack,
  Pack,
  PackCheck,
  PackStatus,
  PromotePack,
  packLimits,
  RollbackPack,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq, ne } from 'drizzle-orm'
import { z } from 'zod'
import type { AvailablePacks } from './available.js'
import { findInstalledVersions } from './existing-packs.js'
import type { Packs } from './packs.js'
import { packs as table } from './tables.js'

const tag = 'Packs'
const reading = { tag, scope: 'sdk:read' } as const
/** Large enough for a base64 tarball, or for files with all characters escaped. */
const bodyLimitBytes = 2 * packLimits.tarballBytes
const changing = { method: 'post', tag, scope: 'sdk:write', response: InstalledPack, bodyLimitBytes } as const
const errors: ErrorCode[] = ['forbidden', 'step_up_required', 'conflict', 'version_conflict']
const granting =
  'Artifacts act for their installer, with at most their rights: what the pack asks for has to be named in `grant` ' +
  '(422, `not_granted`, with all it asks for), and to be held (403, `permission_not_held`).'

const route = defineResource({
  name: 'Pack',
  path: '/sdk/packs',
  tag,
  read: 'sdk:read',
  write: 'sdk:write',
  response: InstalledPack,
})

export function packRoutes(ctx: ServiceContext, packs: Packs, available: AvailablePacks): Route[] {
  return [
    route.list({
      summary: 'List installed packs',
      description: 'Without those that are uninstalled, unless filtered by `status`.',
      query: z.object({ status: PackStatus.optional() }),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      response: Pack,
      handler: pageReader(ctx, {
        table,
        present: packs.aggregate.present,
        select: ({ query: { status } }) => ({
          where: [status === undefined ? ne(table.status, 'uninstalled') : eq(table.status, status)],
        }),
      }),
    }),

    defineRoute({
      ...reading,
      operationId: 'listAvailablePacks',
      method: 'get',
      path: '/sdk/packs/available',
      summary: 'List packs that are available on the platform',
      description: 'Those that ship with it, and those of its operator. They are installed by their names.',
      response: z.array(AvailablePack),
      changesUnversioned: true,
      handler: async ({ meta: { tenant } }) => {
        const installed = await findInstalledVersions(ctx.database, tenant)
        return available
          .list()
          .map((pack) => ({ ...pack, installedVersion: installed.get(pack.name) ?? null }))
      },
    }),

    defineRoute({
      ...changing,
      operationId: 'checkPack',
      path: '/sdk/packs/check',
      summary: 'Find out what installing a pack would do',
      description: 'What it asks for, changes and breaks, and all that is wrong with it. Nothing is changed.',
      body: CheckPack,
      response: PackCheck,
      idempotency: 'none',
      handler: ({ body, meta }) => packs.check(body, meta),
    }),

    defineRoute({
      ...changing,
      operationId: 'installPack',
      path: '/sdk/packs/install',
      summary: 'Install a pack',
      description:
        `From its manifest and files, a tarball with its integrity, or by the name of an available one. ${granting} Another ` +
        'version takes the place of the one that is installed; the content of a version never changes (409). Emits ' +
        '`pack.installed` or `pack.upgraded`, and `artifact.created`, `artifact.updated` and `artifact.removed`.',
      body: InstallPack,
      status: 201,
      errors,
      handler: ({ body, meta }) => packs.install(body, meta),
    }),

    route.get({
      summary: 'Get an installed pack',
      description: 'By its id or its name.',
      response: Pack,
      handler: ({ params, meta }) => packs.get(params.id, meta.tenant),
    }),

    route.action('rollback', {
      bodyLimitBytes,
      summary: 'Go back to a version that was installed before',
      description: `Its artifacts go back to the versions they had. ${granting} Emits as an installation does.`,
      body: RollbackPack,
      ifMatch: false,
      errors: [...errors],
      handler: ({ params, body, meta }) => packs.rollback(params.id, body, meta),
    }),

    route.action('take-over', {
      bodyLimitBytes,
      summary: 'Let the artifacts of a pack act by your rights',
      description:
        'The caller becomes the owner: they need every permission that the artifacts take (403, `permission_not_held`). ' +
        'What was suspended runs again; versions and sources stay as they are. Emits `pack.upgraded` with `change` ' +
        '`reinstall`.',
      ifMatch: false,
      errors: [...errors],
      handler: ({ params, meta }) => packs.takeOver(params.id, meta),
    }),

    route.action('promote', {
      bodyLimitBytes,
      summary: 'Install the present version of a pack in another environment',
      description: `Its artifacts have versions of their own there. ${granting} Emits there as an installation does.`,
      body: PromotePack,
      ifMatch: false,
      idempotency: 'claim',
      errors: ['environment_forbidden', ...errors],
      handler: ({ params, body, meta }) => packs.promote(params.id, body, meta),
    }),

    route.delete({
      operationId: 'uninstallPack',
      summary: 'Uninstall a pack',
      description:
        'By its id or name. Refused while workflows or jobs use its artifacts (409, `in_use`), unless forced. Executions stay, and slugs keep ' +
        'their ids and versions for when it comes back. Emits `pack.uninstalled` and `artifact.removed`.',
      query: z.object({
        force: z
          .enum(['true', 'false'])
          .default('false')
          .transform((text) => text === 'true'),
      }),
      errors: [...errors],
      handler: async ({ params, query, meta }) => packs.uninstall(params.id, query, meta),
    }),
  ]
}
