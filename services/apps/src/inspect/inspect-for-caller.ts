import type { AppProblem, DataSourceState } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import type { Platform } from '../platform.js'
import { type Inspection, inspectSources } from './inspect.js'
import { createPlatformReader } from './platform-reader.js'

type Sources = Parameters<typeof inspectSources>[1]

const inspectionSeconds = 120
const inspectionTimeoutMs = 10_000

/**
 * Inspects the resources that data sources name, in the caller's environment and with the caller's rights. `id` is
 * the object the inspection is made for.
 */
export type InspectForCaller = (sources: Sources, id: string, meta: RequestMeta) => Promise<Inspection>

export const createInspectForCaller =
  ({ delegations, call, operations }: Platform): InspectForCaller =>
  async (sources, id, meta) => {
    const { grant } = await delegations.delegate(meta, { run: id, expiresInSeconds: inspectionSeconds })
    const { signal, principal } = meta
    const caller = { grant, key: id, causationId: id, timeoutMs: inspectionTimeoutMs, signal: signal() }
    return inspectSources(
      createPlatformReader(call, caller, operations.isComplete),
      sources,
      principal.permissions,
    )
  }

/**
 * Problems that would prevent the deployment of a data source. The source is saved anyway, also if the check is
 * impossible.
 */
export const createWarnings =
  (lookUp: InspectForCaller, log: Pick<Logger, 'warn'>) =>
  async (
    source: Pick<DataSourceState, 'name' | 'binding'>,
    id: string,
    meta: RequestMeta,
  ): Promise<AppProblem[]> => {
    try {
      const { problems } = await lookUp([source], id, meta)
      return problems.map(({ path, code, message }) => ({ path, code, message }))
    } catch (error) {
      log.warn({ err: error }, 'a data source was not checked, as what it names could not be looked at')
      const message = 'what it refers to could not be checked now; a deployment checks it again'
      return [{ path: '/binding', code: 'not_checked', message }]
    }
  }
