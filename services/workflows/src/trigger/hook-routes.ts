import { TriggeredRun } from '@opsplane/contracts'
import { anyMediaType, defineRoute, defineUpload, type RequestMeta, type Route } from '@opsplane/http'
import type { HookCall, Hooks } from './hooks.js'
import { WaitQuery } from './wait.js'

const bodyLimitBytes = 256 * 1024

const hook = {
  path: '/origin/hooks/:id',
  tag: 'Workflows',
  scope: 'public',
  waits: true,
  idempotency: 'none',
  query: WaitQuery,
  response: TriggeredRun,
  status: 202,
  errors: ['not_found', 'unauthenticated', 'conflict', 'invalid_state_transition'],
} as const

/** Inbound webhooks: public, outside of the API, known by their address alone. */
export function hookRoutes(hooks: Hooks): Route[] {
  return [
    defineUpload({
      ...hook,
      errors: [...hook.errors],
      operationId: 'callHook',
      method: 'post',
      summary: 'Start a run by an inbound webhook',
      mediaTypes: [anyMediaType],
      bodyLimitBytes,
      handler: async ({ params, query, upload, meta }) =>
        hooks.call(params.id, { ...callOf('POST', meta), body: await collected(upload) }, query.wait),
    }),

    defineRoute({
      ...hook,
      errors: [...hook.errors],
      operationId: 'callHookByGet',
      method: 'get',
      summary: 'Start a run by an inbound webhook without a body',
      handler: ({ params, query, meta }) =>
        hooks.call(params.id, { ...callOf('GET', meta), body: Buffer.alloc(0) }, query.wait),
    }),
  ]
}

const callOf = (
  method: string,
  { now, requestId, traceparent, header, signal }: RequestMeta,
): Omit<HookCall, 'body'> => ({
  ...{ method, now, requestId, traceparent, header, signal: signal() },
})

async function collected(upload: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of upload) chunks.push(chunk)
  return Buffer.concat(chunks)
}
