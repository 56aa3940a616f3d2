import { ApiError, QueryResult, RunQuery } from '@opsplane/contracts'
import { defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import type { ConcurrencyLimiter } from '@opsplane/runtime'
import type { DataPlane } from '../data-plane/data-plane.js'
import type { CheckSpaceQuota } from '../data-plane/space-quota.js'
import { typesByName } from './arguments.js'
import type { QueryRequest, QueryRunner } from './run.js'

/** Runs SQL for callers who are allowed to write it. */
export interface FreeSql {
  run(request: QueryRequest, meta: RequestMeta): Promise<QueryResult>
}

export interface FreeSqlOptions {
  runner: QueryRunner
  /** Limits concurrent queries by workspace. */
  limiter: Pick<ConcurrencyLimiter, 'run'>
  /** Throws `forbidden` if the caller is under a row rule, since SQL would bypass it. */
  refuseRuled(meta: RequestMeta): Promise<void>
  plane: Pick<DataPlane, 'space'>
  /** Throws `quota_exceeded` if the space is full; then only DELETE may write. */
  refuseFull: CheckSpaceQuota
}

const deletes = /^\s*delete\b/i

export function createFreeSql({ runner, limiter, refuseRuled, plane, refuseFull }: FreeSqlOptions): FreeSql {
  return {
    async run(request, meta) {
      if (request.mode === 'write' && !meta.principal.permissions.includes('queries:write'))
        throw new ApiError('insufficient_scope', 'Missing permission: queries:write (for mode write).')
      await refuseRuled(meta)
      if (request.mode === 'write' && !deletes.test(request.sql))
        await refuseFull(await plane.space(meta.tenant))
      return limiter.run(meta.tenant.workspaceId, () => runner.run(meta.tenant, request, meta, meta.signal()))
    },
  }
}

export const queryTag = 'Queries'

export function runRoutes(freeSql: FreeSql): Route[] {
  return [
    defineRoute({
      operationId: 'runQuery',
      method: 'post',
      path: '/queries/run',
      summary: 'Run a SQL query',
      description:
        'Runs one statement as a role that can access only the data of this workspace and environment. The statement ' +
        'is read-only; with `mode` write (permission `queries:write`) it may change rows, which emits `record.*`. A ' +
        'result larger than `maxRows` or 4 MiB is cut off, which `truncated` states; a write or a plan with a result ' +
        'of more than 4 MiB is rolled back and refused (422). A failing statement returns 422 with the code, ' +
        'position and hint of Postgres in `details`. Callers under a row rule cannot run SQL (403).',
      tag: queryTag,
      scope: 'queries:run',
      body: RunQuery,
      response: QueryResult,
      waits: true,
      idempotency: 'claim',
      errors: ['insufficient_scope', 'forbidden', 'quota_exceeded'],
      handler: ({ body: { types, ...body }, meta }) =>
        freeSql.run({ ...body, types: typesByName(types) }, meta),
    }),
  ]
}
