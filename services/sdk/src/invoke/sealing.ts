import { type JsonValue, parseExact, stringifyExact } from '@opsplane/contracts'
import type { Vault } from '@opsplane/postgres'
import type { ExecutionIdentity, Result } from '../execution/model.js'

type Owner = Pick<ExecutionIdentity, 'id' | 'tenant'>

/** Keeps a part of an execution that its row does not show. */
interface SealedPart<Value> {
  seal(owner: Owner, value: Value): Promise<string>
  open(owner: Owner, sealed: string): Promise<Value>
}

export interface ExecutionSealing {
  /** What it is given, until it has ended. */
  input: SealedPart<JsonValue>
  /** What it has come to, as long as its caller can ask for it. */
  result: SealedPart<Result>
}

/** What is sealed opens for the same part of the same execution of the same workspace alone. */
export const createExecutionSealing = (vault: Vault): ExecutionSealing => ({
  input: sealedPart(vault, 'input'),
  result: sealedPart(vault, 'result'),
})

function sealedPart<Value>(vault: Vault, part: string): SealedPart<Value> {
  const place = ({ id }: Owner) => `execution|${id}|${part}`
  return {
    seal: (owner, value) => vault.seal(owner.tenant.workspaceId, stringifyExact(value), place(owner)),
    // It was JSON when it was sealed.
    open: async (owner, sealed) =>
      parseExact(await vault.open(owner.tenant.workspaceId, sealed, place(owner))) as Value,
  }
}
