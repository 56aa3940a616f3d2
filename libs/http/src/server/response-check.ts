import type { StoredResponse } from '@opsplane/contracts'
import { canonicalJson } from '@opsplane/contracts'
import { z } from 'zod'
import type { ListPage } from '../route/list.js'
import type { Route } from '../route/route.js'
import type { Attempt } from './idempotency.js'

/** Throws if data violates its response schema or has fields the schema does not declare. */
export function checkAnswer(route: Route, data: unknown): void {
  if (route.status === 204) return
  const [schema, value] =
    route.kind === 'list'
      ? [z.array(route.response), (data as ListPage<unknown>).items]
      : [route.response, data]
  const result = schema.safeParse(value)
  if (!result.success) {
    throw new Error(`${route.operationId} answers what breaks its schema:\n${z.prettifyError(result.error)}`)
  }
  const [sent, declared] = [canonicalJson(value), canonicalJson(result.data)]
  if (sent !== declared) {
    throw new Error(
      `${route.operationId} answers what its schema does not declare:\n${sent}\ndeclared:\n${declared}`,
    )
  }
}

/** Wraps an attempt so that it throws if it stored no response for replay, or a different one than it returned. */
export function checkReplay(attempt: Attempt): Attempt {
  let kept: StoredResponse | undefined
  const respond = (data: unknown) => {
    kept = attempt.respond(data)
    return kept
  }
  const perform = async () => {
    const data = await attempt.perform()
    if (!kept && attempt.mode === 'transaction') {
      throw new Error('the route takes an Idempotency-Key, but no answer was kept under it')
    }
    if (kept && canonicalJson(kept) !== canonicalJson(attempt.respond(data))) {
      throw new Error(`the answer kept for replay differs from the answer given:\n${canonicalJson(kept)}`)
    }
    return data
  }
  return { ...attempt, respond, perform }
}
