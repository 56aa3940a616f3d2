import { type JsonValue, parseExact, stringifyExact } from '@opsplane/contracts'
import type { Vault } from '@opsplane/postgres'
import type { ExecutionIdentity } from '../execution/model.js'

/** Keeps what an execution is given and its row does not show, until it has ended. */
export interface InputSealing {
  seal(identity: ExecutionIdentity, input: JsonValue): Promise<string>
  open(identity: ExecutionIdentity, sealed: string): Promise<JsonValue>
}

/** What is sealed opens for the same execution of the same workspace alone. */
export function createInputSealing(vault: Vault): InputSealing {
  const place = ({ id }: ExecutionIdentity) => `execution|${id}|input`
  return {
    seal: (identity, input) =>
      vault.seal(identity.tenant.workspaceId, stringifyExact(input), place(identity)),
    // It was JSON when it was sealed.
    open: async (identity, sealed) =>
      parseExact(await vault.open(identity.tenant.workspaceId, sealed, place(identity))) as JsonValue,
  }
}
