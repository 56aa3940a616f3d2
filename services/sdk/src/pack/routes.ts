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
  'Artifacts act on behalf of their installer, with at most the rights of the installer: `grant` must name all permissions ' +
  'that the pack requests (otherwise 422 `not_granted`, with the list), and the installer must have them (otherwise 403 ' +
  '`permission_not_held`).'

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
      description: 'Uninstalled packs are listed only if `status` selects them.',
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
      summary: 'List available packs',
      description:
        'Lists the packs that ship with the platform and those of its operator. They can be installed by name.',
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
      summary: 'Check the installation of a pack',
      description:
        'Returns the permissions the pack requests, the changes it makes, the resources it breaks, and all its ' +
        'problems. Nothing is changed.',
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
        'Installs a pack from its manifest and files, from a tarball with its integrity, or by the name of an ' +
        `available pack. ${granting} A different version replaces the installed one; the content of a version never ` +
        'changes (409). Emits `pack.installed` or `pack.upgraded`, and `artifact.created`, `artifact.updated` and ' +
        '`artifact.removed`.',
      body: InstallPack,
      status: 201,
      errors,
      handler: ({ body, meta }) => packs.install(body, meta),
    }),

    route.get({
      summary: 'Get an installed pack',
      description: 'Returns the pack by its id or its name.',
      response: Pack,
      handler: ({ params, meta }) => packs.get(params.id, meta.tenant),
    }),

    route.action('rollback', {
      bodyLimitBytes,
      summary: 'Roll back a pack to an earlier version',
      description:
        'The version must have been installed before; the artifacts return to the versions they had then. ' +
        `${granting} Emits the same events as an installation.`,
      body: RollbackPack,
      ifMatch: false,
      errors: [...errors],
      handler: ({ params, body, meta }) => packs.rollback(params.id, body, meta),
    }),

    route.action('take-over', {
      bodyLimitBytes,
      summary: 'Take over a pack',
      description:
        'The caller becomes the owner, with whose rights the artifacts act, and needs every permission that the ' +
        'artifacts require (403, `permission_not_held`). Suspended artifacts run again; versions and sources do not ' +
        'change. Emits `pack.upgraded` with `change` `reinstall`.',
      ifMatch: false,
      errors: [...errors],
      handler: ({ params, meta }) => packs.takeOver(params.id, meta),
    }),

    route.action('promote', {
      bodyLimitBytes,
      summary: 'Promote a pack to another environment',
      description:
        'Installs the current version of the pack in the other environment, where its artifacts have their own ' +
        `versions. ${granting} Emits the same events there as an installation.`,
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
        'Identifies the pack by its id or name. Refused while workflows or jobs use its artifacts (409, `in_use`), ' +
        'unless forced. Executions are kept, and slugs keep their ids and versions for a later reinstallation. Emits ' +
        '`pack.uninstalled` and `artifact.removed`.',
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
