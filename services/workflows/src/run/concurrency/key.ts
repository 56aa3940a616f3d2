import { ApiError, tenantKey } from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'
import type { Expressions } from '@opsplane/sandbox'
import type { Program } from '../../engine/program.js'
import type { StartRequest } from '../start.js'
import type { KeyedLimit } from './admission.js'

/** The limit that a new run shares with others of its workflow, or with those that have the same key. */
export async function resolveLimit(
  expressions: Pick<Expressions, 'evaluate'>,
  { definition: { concurrency }, concurrencyKey }: Program,
  { tenant, workflow, trigger, event, input }: StartRequest,
): Promise<KeyedLimit | null> {
  if (concurrency === undefined) return null
  const { limit, whenFull } = concurrency
  if (concurrencyKey === null) return { key: workflow.id, limit, whenFull }
  const [value] = await expressions.evaluate({
    templates: [concurrencyKey],
    scope: { trigger, event, input },
    tenant: tenantKey(tenant),
  })
  if (!value?.ok)
    throw new ApiError(
      'service_unavailable',
      `The concurrency key ${value?.error.message ?? 'has no value'}.`,
    )
  return { key: `${workflow.id}:${sha256Hex(JSON.stringify(value.value))}`, limit, whenFull }
}
