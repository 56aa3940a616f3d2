import { durableConsumers, eventExample, eventHeaders, newId } from '@opsplane/contracts'
import { generateServiceKeys } from '@opsplane/http'
import { createEventSignatures, type SignedMessage } from '@opsplane/nats'
import { median } from '../load.js'

const rounds = 5
const events = 2_000

/**
 * CPU time per event in microseconds: for the signature its service makes, and for one verification in each
 * consuming process, which verifies once for all its consumers. Runs the code that the services use.
 */
export function signatureCostUs(): { signUs: number; checkUs: number; verifiers: number } {
  const verifiers = Object.keys(durableConsumers)
  const keys = new Map(['itsm', ...verifiers].map((name) => [name, generateServiceKeys()]))
  const trustedKeys = Object.fromEntries([...keys].map(([name, { publicKey }]) => [name, publicKey]))
  const of = (service: string) =>
    createEventSignatures({
      ...{ service, trustedKeys, verifiers },
      privateKey: keys.get(service)?.privateKey ?? '',
    })
  const signer = of('itsm')
  const checkers = verifiers.map(of)
  const signs: number[] = []
  const checks: number[] = []
  // The first round creates the keys and lets V8 compile the code.
  for (let round = 0; round <= rounds; round++) {
    const unsigned = Array.from({ length: events }, incidentMessage)
    const [signed, signUs] = timed(() =>
      unsigned.map((message) => withSignature(message, signer.sign(message, message.body))),
    )
    const [, checkUs] = timed(() => {
      for (const message of signed) for (const { check } of checkers) check(message, message.body)
    })
    if (round === 0) continue
    signs.push(signUs)
    checks.push(checkUs)
  }
  return { signUs: median(signs) / events, checkUs: median(checks) / events, verifiers: verifiers.length }
}

/** Returns the result of `work` and the CPU time of this process it took, in microseconds. */
function timed<Result>(work: () => Result): [Result, number] {
  const before = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(before)
  return [result, user + system]
}

interface BenchMessage extends SignedMessage {
  body: string
}

function incidentMessage(): BenchMessage {
  const event = { ...eventExample('incident.created'), id: newId('event') }
  const headers: Record<string, string> = {
    [eventHeaders.source]: 'itsm',
    [eventHeaders.position]: '1000000',
    [eventHeaders.lowWatermark]: '999999',
    [eventHeaders.messageId]: event.id,
  }
  return {
    subject: `evt.${event.workspaceId}.production.incident.created`,
    body: JSON.stringify(event),
    header: (name) => headers[name],
  }
}

const withSignature = (message: BenchMessage, signature: string): BenchMessage => ({
  ...message,
  header: (name) => (name === eventHeaders.signature ? signature : message.header(name)),
})
