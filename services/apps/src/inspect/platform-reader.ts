import { ApiError, type Permission, type PinnedResource, pageBounds } from '@opsplane/contracts'
import { CallFailure, type CallOperation, type OperationInput, type PlatformCaller } from '@opsplane/http'
import { z } from 'zod'

/** A problem with a resource that a data source names; `path` lies below its binding. */
export interface Finding {
  path: string
  code: string
  message: string
}

/** The resource that a data source names, as found. */
export interface Inspected {
  pinned: Omit<PinnedResource, 'source'> | null
  /** Permissions required to use it. */
  permissions: readonly Permission[]
  findings: readonly Finding[]
}

/** Reads from the platform with the rights of the deployer. */
export interface PlatformReader {
  /**
   * `undefined` if the resource does not exist or is not visible to the deployer. Throws `service_unavailable` if the
   * service does not respond.
   */
  ask<Schema extends z.ZodType>(
    operationId: string,
    schema: Schema,
    input: Partial<OperationInput>,
  ): Promise<z.output<Schema> | undefined>
  /** Searches a list for the resource with this id or name in the environment. */
  named<Schema extends z.ZodObject<{ id: z.ZodString; name: z.ZodString }>>(
    operationId: string,
    schema: Schema,
    reference: string,
  ): Promise<z.output<Schema> | undefined>
}

/** Maximum number of pages read when an operation cannot filter by name. */
const maxPages = 10
const absent = new Set(['not_found', 'unknown_operation'])
const refusalCodes = new Set(['forbidden', 'insufficient_scope', 'rights_gone'])
const Pagination = z.object({ nextCursor: z.string().nullable() })

export function createPlatformReader(
  call: CallOperation,
  caller: PlatformCaller,
  isComplete: () => boolean,
): PlatformReader {
  const answerOf = async (operationId: string, input: Partial<OperationInput>) => {
    try {
      return await call(caller, operationId, { params: {}, query: {}, ...input })
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
      const isKnown = error.code !== 'unknown_operation' || isComplete()
      if ((absent.has(error.code) && isKnown) || refusalCodes.has(error.code)) return undefined
      throw new ApiError('service_unavailable', `What the app needs cannot be checked: ${error.message}`, {
        cause: error,
      })
    }
  }

  const ask: PlatformReader['ask'] = async (operationId, schema, input) => {
    const answer = await answerOf(operationId, input)
    return answer === undefined ? undefined : schema.parse(answer.data)
  }

  return {
    ask,
    async named(operationId, schema, reference) {
      let after: string | undefined
      for (let page = 0; page < maxPages; page++) {
        const query = { limit: pageBounds.items, ...(after !== undefined && { after }) }
        const answer = await answerOf(operationId, { query })
        if (answer === undefined) return undefined
        const items = z.array(schema).parse(answer.data)
        const found = items.find(({ id, name }) => id === reference || name === reference)
        if (found) return found
        after = Pagination.parse(answer.pagination).nextCursor ?? undefined
        if (after === undefined) return undefined
      }
      return undefined
    },
  }
}

export const missingResource = (field: string, what: string, reference: string): Inspected => ({
  pinned: null,
  permissions: [],
  findings: [
    {
      path: `/binding/${field}`,
      code: `unknown_${field}`,
      message: `there is no ${what} ${reference} in this environment, or you may not see it`,
    },
  ],
})
