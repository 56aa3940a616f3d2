import type { JsonValue } from '@opsplane/contracts'
import type { CallOperation } from '@opsplane/http'
import { HostError } from '@opsplane/sandbox'
import { z } from 'zod'
import type { HostContext, HostFunction } from './host-call.js'
import { platformCaller } from './platform-caller.js'

const table = z.string().min(1).max(100)
const id = z.string().min(1).max(200)
const record = z.record(z.string(), z.unknown())

const Call = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('list'),
    table,
    filter: z.record(z.string(), z.unknown()).optional(),
    sort: z.string().max(200).optional(),
    limit: z.number().int().min(1).max(200).optional(),
    after: z.string().max(2_000).optional(),
  }),
  z.strictObject({ action: z.literal('get'), table, id }),
  z.strictObject({ action: z.literal('create'), table, record }),
  z.strictObject({ action: z.literal('update'), table, id, record }),
  z.strictObject({ action: z.literal('delete'), table, id }),
])
type Call = z.output<typeof Call>

const Pagination = z.object({ nextCursor: z.string().nullable() })
const Row = z.object({ id: z.string() }).loose()

/** Accesses records of a declared table with the rights of the installer; row rules apply. */
export const tableFunction =
  (callOperation: CallOperation): HostFunction =>
  async (context, argument) => {
    const call = Call.parse(argument)
    const needed = call.action === 'list' || call.action === 'get' ? 'read' : 'write'
    const { tables } = context.artifact.permissions
    if (!(Object.hasOwn(tables, call.table) && tables[call.table]?.includes(needed)))
      throw new HostError(
        'not_permitted',
        `The artifact has not declared to ${needed} the table ${call.table}.`,
      )
    // Parsed from JSON.
    return (await perform(callOperation, context, call)) as JsonValue
  }

async function perform(callOperation: CallOperation, context: HostContext, call: Call): Promise<unknown> {
  const touch = (touched: string) => context.touch({ id: touched, table: call.table })
  const at = { slug: call.table, ...('id' in call && { id: call.id }) }
  const requestOperation = (
    operation: string,
    { query = {}, body }: { query?: Record<string, unknown>; body?: unknown } = {},
  ) =>
    callOperation(platformCaller(context), operation, {
      params: at,
      query,
      ...(body !== undefined && { body }),
    })
  if ('id' in call) touch(call.id)
  switch (call.action) {
    case 'list': {
      const { filter, sort, limit, after } = call
      const answer = await requestOperation('listRecords', { query: { filter, sort, limit, after } })
      const records = z.array(Row).parse(answer.data)
      for (const row of records) touch(row.id)
      return { records, nextCursor: Pagination.parse(answer.pagination).nextCursor }
    }
    case 'get':
      return (await requestOperation('getRecord')).data
    case 'create': {
      const { data } = await requestOperation('createRecord', { body: call.record })
      touch(Row.parse(data).id)
      return data
    }
    case 'update':
      return (await requestOperation('updateRecord', { body: call.record })).data
    case 'delete':
      await requestOperation('deleteRecord')
      return null
  }
}
