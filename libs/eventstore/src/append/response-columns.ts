import { type StoredResponse, stringifyExact } from '@opsplane/contracts'

/** A response as columns of `idempotency_keys`: body and headers are JSON. */
export const responseColumns = ({ status, body, headers }: StoredResponse) => ({
  status,
  body: stringifyExact(body ?? null),
  headers: headers ? JSON.stringify(headers) : null,
})
