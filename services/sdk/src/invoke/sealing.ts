import { type JsonValue, parseExact, stringifyExact } from '@opsplane/contracts'
import type { Vault } from '@opsplane/postgres'
import type { ExecutionIdentity, Result } from '../execution/model.js'

type Owner = Pick<ExecutionIdentity, 'id' | 'tenant'>

/** Seals a part of an execution that its row does not show. */
interface SealedPart<Value> {
  seal(owner: Owner, value: Value): Promise<string>
  open(owner: Owner, sealed: string): Promise<Value>
}

export interface ExecutionSealing {
  /** The input, until the execution has ended. */
  input: SealedPart<JsonValue>
  /** The result, while its caller may request it. */
  result: SealedPart<Result>
}

/** Sealed values can only be opened for the same part of the same execution in the same workspace. */
export const createExecutionSealing = (vault: Vault): ExecutionSealing => ({
  input: sealedPart(vault, 'input'),
  result: sealedPart(vault, 'result'),
})

function sealedPart<Value>(vault: Vault, part: string): SealedPart<Value> {
  const place = ({ id }: Owner) => `execution|${id}|${part}`
  return {
    seal: (owner, value) => vault.seal(owner.tenant.workspaceId, stringifyExact(value), place(owner)),
    // The value was JSON before it was sealed.
    open: async (owner, sealed) =>
      parseExact(await vault.open(owner.tenant.workspaceId, sealed, place(owner))) as Value,
  }
}
