import {
  ApiError,
  type AppActionRequest,
  type AppDataAnswer,
  type AppDataRequest,
  assertNever,
  type EmbedTokenState,
} from '@opsplane/contracts'
import { createSemaphore, type Logger, sha256Hex } from '@opsplane/runtime'
import type { CompiledSource } from '../compiled.js'
import type { DeploymentUse } from '../deployment-use.js'
import { parseParams } from '../params.js'
import { actionError, partError } from './errors.js'
import { callOther, toShown } from './others.js'
import { type CallParts, evaluateTemplates, type Shown, type SourceCall } from './source-call.js'
import { actOnRow, listRows } from './table.js'

type DataPart = AppDataRequest['requests'][number]

export interface Use {
  /** Returns each part by its key, with its rows or its own error. */
  data(running: DeploymentUse, request: AppDataRequest, context: UseContext): Promise<AppDataAnswer>
  /** Throws the error of the action; the paths of its details refer to the browser's request. */
  act(running: DeploymentUse, request: AppActionRequest, context: UseContext): Promise<unknown>
}

export interface UseContext {
  /** The key of the request, or the client's idempotency key, which is the same for a repeated request. */
  key: string
  signal: AbortSignal
  log: Logger
}

/** Maximum concurrent requests of one page. */
const atOnce = 6

/** Uses data sources only as a deployment declares them. */
export function createUse(parts: CallParts): Use {
  const part = async (running: DeploymentUse, request: DataPart, context: UseContext) => {
    try {
      const { source, params, cursor } = request
      const call = callOf(running, { source, params }, { ...context, key: `${context.key}/${request.key}` })
      return await resultOf(parts, call, await load(parts, call, cursor))
    } catch (error) {
      // A disconnected client is not a failure of the source, and needs no further parts of the page.
      context.signal.throwIfAborted()
      return { error: partError(error, context.log) }
    }
  }

  return {
    async data(running, { requests }, context) {
      const semaphore = createSemaphore(atOnce)
      const results = await Promise.all(
        requests.map(
          async (each) => [each.key, await semaphore(() => part(running, each, context))] as const,
        ),
      )
      return { deployment: running.deployment.number ?? 0, results: Object.fromEntries(results) }
    },

    async act(running, request, context) {
      try {
        refuseOther(running, request)
        const call = callOf(running, request, context)
        const { binding } = call.source
        if (binding.kind === 'table') return await actOnRow(parts, call, binding, request)
        refuseRowFields(request)
        const result = await resultOf(parts, call, await callOther(parts, call, binding))
        return result.rows ?? result.value
      } catch (error) {
        throw actionError(error, running.sources.get(request.source)?.binding)
      }
    },
  }
}

/** Throws `not_found` for an undeclared source, `validation_failed` for undeclared parameters. */
function callOf(
  running: DeploymentUse,
  { source: name, params }: Pick<AppActionRequest, 'source' | 'params'>,
  { key, signal }: Pick<UseContext, 'key' | 'signal'>,
): SourceCall {
  const source = running.sources.get(name)
  if (!source) throw new ApiError('not_found', `The app has no data source ${name.slice(0, 50)}.`)
  refuseUnfiltered(running.embed, source)
  return {
    ...{ running, source, signal, params: parseParams(source.params, params) },
    // The same for every deployment: a request sent before a redeployment and repeated after it is still the same
    // request.
    key: sha256Hex(`${running.deployment.appId}/${name}/${key}`),
  }
}

/**
 * Throws `conflict` (`redeployed`) if the page was loaded from another deployment, whose sources may mean something
 * else.
 */
function refuseOther({ deployment: { number } }: DeploymentUse, { deployment }: AppActionRequest): void {
  if (deployment === undefined || deployment === number) return
  const message =
    'The app has been updated since this page was loaded: check what is in it, and send it again.'
  const detail = { in: 'body', path: '/deployment', code: 'redeployed', message } as const
  throw new ApiError('conflict', message, { details: [detail] })
}

/** Sources that a row filter cannot restrict are forbidden, unless the token's creator exempted them. */
function refuseUnfiltered(embed: EmbedTokenState | null, { name, binding }: CompiledSource): void {
  if (embed === null || embed.rowFilter === null || binding.kind === 'table') return
  if (!embed.exempt.includes(name))
    throw new ApiError('forbidden', `The embed token's row filter cannot bind the data source ${name}.`)
}

/** Loads the data a page shows. Sources that may have side effects are not called for this. */
function load(parts: CallParts, call: SourceCall, cursor: string | undefined): Promise<Shown> {
  const { binding } = call.source
  switch (binding.kind) {
    case 'table':
      return listRows(parts, call, binding, cursor)
    case 'report':
      return callOther(parts, call, binding)
    case 'query':
    case 'connector':
    case 'workflow':
      if (binding.use === 'data') return callOther(parts, call, binding)
      throw new ApiError('forbidden', 'This data source can be used only by actions.')
    default:
      return assertNever(binding)
  }
}

async function resultOf(parts: CallParts, call: SourceCall, found: Shown): Promise<Shown> {
  const { result } = call.source.templates
  if (result === null) return found
  const [value] = await evaluateTemplates(parts, call, [result], { rows: found.rows, value: found.value })
  return { ...toShown(value), nextCursor: found.nextCursor }
}

/** Only tables accept fields that refer to a record. */
function refuseRowFields({ operation, id, values, version }: AppActionRequest): void {
  if (operation === undefined && id === undefined && values === undefined && version === undefined) return
  throw new ApiError('validation_failed', 'This data source accepts only parameters.')
}
