import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

const Attribute = z.object({ key: z.string(), value: z.looseObject({ stringValue: z.string().optional() }) })
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(Attribute) }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.looseObject({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
            }),
          ),
        }),
      ),
    }),
  ),
})

export interface ReceivedSpan {
  service: string
  name: string
  traceId: string
  spanId: string
  parentSpanId: string | undefined
}

/** Receives traces as a collector does, by OTLP/HTTP in JSON. */
export async function startOtlpReceiver() {
  const spans: ReceivedSpan[] = []
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    bodies.push(body)
    for (const { resource, scopeSpans } of Export.parse(JSON.parse(body)).resourceSpans) {
      const serviceAttribute = resource.attributes.find(({ key }) => key === 'service.name')
      const service = serviceAttribute?.value.stringValue ?? ''
      for (const { traceId, spanId, parentSpanId, name } of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({ service, name, traceId, spanId, parentSpanId })
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    spans: (): readonly ReceivedSpan[] => spans,
    /** All bodies received, unchanged. */
    text: () => bodies.join('\n'),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
