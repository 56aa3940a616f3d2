import { TriggeredRun } from '@opsplane/contracts'
import { anyMediaType, defineRoute, defineUpload, type RequestMeta, type Route } from '@opsplane/http'
import { z } from 'zod'
import type { HookCall } from './hook-event.js'
import type { Hooks } from './hooks.js'
import { WaitQuery } from './wait-for-run.js'

const bodyLimitBytes = 5 * 1024 * 1024

const HookQuery = WaitQuery.catchall(z.union([z.string(), z.array(z.string())]))
type HookQuery = z.output<typeof HookQuery>

const hook = {
  path: '/origin/hooks/:id',
  tag: 'Workflows',
  scope: 'public',
  waits: true,
  idempotency: 'none',
  query: HookQuery,
  response: TriggeredRun,
  accepted: ({ ended }: TriggeredRun) => !ended,
} as const
const errors = ['not_found', 'unauthenticated', 'conflict', 'invalid_state_transition'] as const
const waiting =
  'With `wait`: 200 with the output if the run completes in time, 502 if it fails or is cancelled, 202 if it is still in ' +
  'progress or paused. All other parameters are available to the run as `event.query`.'

/** Inbound webhooks: public, outside the API, protected by their secret address. */
export function hookRoutes(hooks: Hooks): Route[] {
  const withBody = (method: 'post' | 'put', operationId: string) =>
    defineUpload({
      ...{ ...hook, errors, method, operationId, bodyLimitBytes },
      summary: 'Start a run through an inbound webhook',
      description: waiting,
      mediaTypes: [anyMediaType],
      handler: async ({ params, query, upload, meta }) =>
        hooks.call(
          params.id,
          { ...toHookCall(method, query, meta), body: await collected(upload) },
          query.wait,
        ),
    })
  return [
    withBody('post', 'callHook'),
    withBody('put', 'callHookByPut'),

    defineRoute({
      ...{ ...hook, errors },
      operationId: 'callHookByGet',
      method: 'get',
      summary: 'Start a run through an inbound webhook without a body',
      description: waiting,
      handler: ({ params, query, meta }) =>
        hooks.call(params.id, { ...toHookCall('get', query, meta), body: Buffer.alloc(0) }, query.wait),
    }),
  ]
}

function toHookCall(
  method: string,
  { wait: _, ...others }: HookQuery,
  { now, requestId, traceparent, header, signal }: RequestMeta,
): Omit<HookCall, 'body'> {
  // A name that the platform's JSON does not allow.
  const query = Object.fromEntries(Object.entries(others).filter(([name]) => name !== '__proto__'))
  return { method: method.toUpperCase(), query, now, requestId, traceparent, header, signal: signal() }
}

async function collected(upload: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of upload) chunks.push(chunk)
  return Buffer.concat(chunks)
}
