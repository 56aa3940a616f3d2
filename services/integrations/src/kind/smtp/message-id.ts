import { createHash } from 'node:crypto'
import { type Mailbox, mailboxDomain } from '@opsplane/contracts'
import type { Call } from '../kind.js'

/** The same id for every attempt of an invocation, and for an invocation repeated with its key. */
export function computeMessageId({ connectorId, tenant, idempotencyKey }: Call, from: Mailbox): string {
  const of = [tenant.workspaceId, tenant.environment, connectorId, idempotencyKey]
  return `<${createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 40)}@${mailboxDomain(from)}>`
}
