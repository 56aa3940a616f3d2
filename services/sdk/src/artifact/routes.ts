import {
  Artifact,
  ArtifactDetail,
  ArtifactKind,
  ArtifactVersion,
  ArtifactVersionDetail,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq, ne } from 'drizzle-orm'
import { z } from 'zod'
import type { Artifacts } from './artifacts.js'
import { artifacts as table } from './tables.js'

const reading = { tag: 'Artifacts', scope: 'sdk:read' } as const
/** Routes for reading artifacts. They are created and removed with packs. */
export function artifactRoutes(ctx: ServiceContext, artifacts: Artifacts): Route[] {
  return [
    defineList({
      ...reading,
      operationId: 'listArtifacts',
      path: '/sdk/artifacts',
      summary: 'List artifacts',
      description: 'Returns the artifacts without their code and schemas.',
      query: z.object({
        kind: ArtifactKind.optional(),
        packId: z.string().max(100).optional(),
        status: z.enum(['active', 'suspended']).optional(),
      }),
      sorts: ['-createdAt', 'updatedAt', 'slug'],
      response: Artifact,
      handler: pageReader(ctx, {
        table,
        present: artifacts.aggregate.present,
        select: ({ query: { kind, packId, status } }) => ({
          where: [
            status === undefined ? ne(table.status, 'removed') : eq(table.status, status),
            kind && eq(table.kind, kind),
            packId === undefined ? undefined : eq(table.packId, packId),
          ],
        }),
      }),
    }),

    defineRoute({
      ...reading,
      operationId: 'getArtifact',
      method: 'get',
      path: '/sdk/artifacts/:id',
      summary: 'Get an artifact',
      description:
        'Returns the artifact by its id or slug, with the code and schemas of its current version.',
      response: ArtifactDetail,
      handler: ({ params, meta }) => artifacts.get(params.id, meta.tenant),
    }),

    defineList({
      ...reading,
      operationId: 'listArtifactVersions',
      path: '/sdk/artifacts/:id/versions',
      summary: 'List the versions of an artifact',
      description: 'Newest first. A version never changes; downgrading a pack restores an earlier version.',
      sorts: [],
      response: ArtifactVersion,
      handler: ({ params, query: { limit, after }, binding, meta: { tenant } }) =>
        artifacts.listVersions(params.id, tenant, { limit, after, binding }),
    }),

    defineRoute({
      ...reading,
      operationId: 'getArtifactVersion',
      method: 'get',
      path: '/sdk/artifacts/:id/versions/:number',
      summary: 'Get a version of an artifact',
      description:
        'Returns the version with its code, schemas, permissions, limits and the names of its tests. A version never ' +
        'changes.',
      response: ArtifactVersionDetail,
      handler: ({ params, meta }) => artifacts.version(params.id, numberOf(params.number), meta.tenant),
    }),
  ]
}

/** Returns NaN, which is no version, unless the number is in canonical form: each resource has one URL. */
const numberOf = (text: string): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN)
