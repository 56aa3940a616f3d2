import type { CatalogRequestState, Decision, ServiceCatalogEventType } from '@opsplane/contracts'
import { automaticTransitions } from './request-transitions.js'

/** Requests are never deleted. */
export type RequestDecision = Decision<CatalogRequestState, ServiceCatalogEventType> & {
  after: CatalogRequestState
}

/** Returns the event of an automatic transition. Throws if the table has no such transition. */
export function automaticStepEvent(from: CatalogRequestState, after: CatalogRequestState): RequestDecision {
  if (!automaticTransitions[from.status]?.includes(after.status))
    throw new Error(`A request does not go from ${from.status} to ${after.status} by itself.`)
  return { type: 'request.updated', after }
}
