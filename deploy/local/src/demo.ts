import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { request } from 'undici'
import { z } from 'zod'
import type { ReceiverCertificate } from './certificate.js'
import type { LocalInfo } from './state.js'

export interface DemoOptions {
  info: LocalInfo
  certificate: ReceiverCertificate
  say(text: string): void
  /** Host by which the platform reaches this process, if it is on another machine. */
  receiverHost?: string
}

interface Delivery {
  headers: IncomingHttpHeaders
  body: Buffer
  at: number
}

const Created = z.object({ data: z.looseObject({ id: z.string(), number: z.string().optional() }) })

/**
 * Shows the main job to the user: webhook, incident, signed delivery, verification. Throws if the delivery does not
 * arrive.
 */
export async function runDemo({ info, certificate, say, receiverHost }: DemoOptions): Promise<void> {
  const receiver = await openReceiver(certificate, receiverHost)
  try {
    say(`\n1. An HTTPS receiver listens at ${receiver.url}`)
    const secret = randomBytes(24).toString('base64url')
    const webhook = await call(info, 'POST', '/webhooks', {
      name: 'Demo receiver',
      url: receiver.url,
      events: ['incident.*'],
      secret,
    })
    say(`2. POST /webhooks                → ${webhook.id}, subscribed to incident.*`)

    const sentAt = performance.now()
    const incident = await call(info, 'POST', '/itsm/incidents', {
      title: 'Checkout answers 500 for one customer in ten',
      severity: 'high',
    })
    say(`3. POST /itsm/incidents          → ${incident.number} (${incident.id})`)

    const delivery = await receiver.next(15_000)
    const event = String(delivery.headers['x-service-event'])
    say(`4. The receiver got ${event}  ${(delivery.at - sentAt).toFixed(0)} ms after the request was sent`)
    say(`   X-Service-Delivery:      ${delivery.headers['x-service-delivery']}`)
    say(`   X-Service-Signature-256: ${delivery.headers['x-service-signature-256']}`)
    say(indent(JSON.stringify(JSON.parse(delivery.body.toString()), null, 2)))

    if (!verify(delivery, secret)) throw new Error('The signature of the delivery does not verify.')
    say('5. The signature verifies: HMAC-SHA256 over the raw body with the shared secret.')
    await call(info, 'DELETE', `/webhooks/${webhook.id}`)
    say('6. The demo webhook is deleted again; the incident stays.')
  } finally {
    receiver.close()
  }
}

const indent = (text: string) => text.replaceAll(/^/gm, '   ')

function verify(delivery: Delivery, secret: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(delivery.body).digest('hex')}`)
  const received = Buffer.from(String(delivery.headers['x-service-signature-256']))
  return expected.length === received.length && timingSafeEqual(expected, received)
}

async function call(info: LocalInfo, method: 'POST' | 'DELETE', path: string, body?: unknown) {
  const response = await request(`${info.baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${info.apiKey}`,
      'x-workspace': info.workspace,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.body.text()
  if (response.statusCode >= 300)
    throw new Error(`${method} ${path} answered ${response.statusCode}: ${text}`)
  return text === '' ? { id: '', number: '' } : Created.parse(JSON.parse(text)).data
}

async function openReceiver(certificate: ReceiverCertificate, host = '127.0.0.1') {
  const deliveries: Delivery[] = []
  let wake = () => {}
  const server = createServer({ key: certificate.key, cert: certificate.cert }, (incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      outgoing.writeHead(204).end()
      deliveries.push({ headers: incoming.headers, body: Buffer.concat(chunks), at: performance.now() })
      wake()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, host === '127.0.0.1' ? host : '0.0.0.0', resolve))
  return {
    url: `https://${host}:${(server.address() as AddressInfo).port}/opsplane`,
    next: async (timeoutMs: number): Promise<Delivery> => {
      if (deliveries.length === 0) {
        await new Promise<void>((resolve, reject) => {
          wake = resolve
          setTimeout(
            () => reject(new Error(`No delivery arrived within ${timeoutMs} ms.`)),
            timeoutMs,
          ).unref()
        })
      }
      const delivery = deliveries.shift()
      if (!delivery) throw new Error('No delivery arrived.')
      return delivery
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
