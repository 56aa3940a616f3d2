import type { CatalogRequestState, Decision, ServiceCatalogEventType } from '@opsplane/contracts'
import { onward } from './request-transitions.js'

/** Requests are never deleted. */
export type RequestDecision = Decision<CatalogRequestState, ServiceCatalogEventType> & {
  after: CatalogRequestState
}

/** A step nobody took: the table says where it may lead. */
export function wentOn(from: CatalogRequestState, after: CatalogRequestState): RequestDecision {
  if (!onward[from.status]?.includes(after.status))
    throw new Error(`A request does not go from ${from.status} to ${after.status} by itself.`)
  return { type: 'request.updated', after }
}
