import { type StoredResponse, stringifyExact } from '@opsplane/contracts'

/** A response as the columns of `idempotency_keys` have it: body and headers are JSON. */
export const responseColumns = ({ status, body, headers }: StoredResponse) => ({
  status,
  body: stringifyExact(body ?? null),
  headers: headers ? JSON.stringify(headers) : null,
})
