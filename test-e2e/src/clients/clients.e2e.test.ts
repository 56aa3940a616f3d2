import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type OpenApi, type Operation, operationsOf, parametersIn } from '../fuzz/document.js'
import { neverSuccessful } from '../fuzz/expectations.js'
import { buildWorld, type World } from '../fuzz/world.js'
import { openApiOf, startTestCluster } from '../platform.js'
import { type Called, clientMakers, type GeneratedClient } from './generated.js'

/** Needs Python, Go and their registries, and minutes: only where TEST_CLIENTS says so, as `npm run test:long` does. */
const isWanted = process.env.TEST_CLIENTS === '1'
const patientMs = 1_800_000

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let receiver: Receiver
let document: OpenApi
let folder: string

const startPlatform = async () => {
  folder = mkdtempSync(join(tmpdir(), 'opsplane-clients-'))
  cluster = await startTestCluster({
    extra: { RATE_LIMIT_PER_MINUTE: '0', TRUST_PROXY_CIDRS: '127.0.0.0/8' },
  })
  const { key, cert } = cluster.certificate
  let failures = 2
  receiver = await startReceiver({
    tls: { key, cert },
    respond: ({ path }) => ({
      status: path === '/gone' ? 410 : path === '/flaky' && failures-- > 0 ? 500 : 200,
    }),
  })
  document = await openApiOf<OpenApi>(cluster.info)
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document))
}
if (isWanted) {
  beforeAll(startPlatform, patientMs)
  afterAll(async () => {
    await receiver?.stop()
    await cluster?.stop()
    if (folder) rmSync(folder, { recursive: true, force: true })
  })
}

async function called(client: GeneratedClient, world: World, operation: Operation): Promise<Called> {
  const { baseUrl, workspace } = cluster.info
  const values = await world.pathValues(operation)
  const takes = parametersIn(operation, 'header').map(({ name }) => name)
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return client.call({
    operation: operation.id,
    url: baseUrl,
    token: await world.credential(operation),
    path: names.map((name) => values[name] ?? ''),
    parameters: { ...values, ...(takes.includes('X-Workspace') && { 'X-Workspace': workspace }) },
    ...(operation.upload ? { file: world.file, media: operation.upload } : {}),
    ...(operation.body && !operation.upload ? { body: world.goodBody(operation) } : {}),
  })
}

const isOver = ({ status }: Called) => status === 409 || status === 422

describe.each(Object.entries(clientMakers))('a generated client of %s', (language, make) => {
  const run = isWanted ? test : test.skip
  run(
    'compiles, calls every operation, and reads what is answered as its types say',
    async () => {
      const place = join(folder, language)
      mkdirSync(place)
      const client = make(join(folder, 'openapi.json'), place)
      const wrong: string[] = []
      try {
        const world = await buildWorld(document, cluster.info, receiver)
        for (const operation of operationsOf(document)) {
          const tries = () => called(client, world, operation)
          // What races with the end of its subject is tried again until it comes in time.
          const answer = /^cancel/.test(operation.id)
            ? await waitFor(async () => {
                const tried = await tries()
                return !isOver(tried) || operation.id in neverSuccessful ? tried : undefined
              })
            : await tries().catch((error: unknown) => ({ error: String(error) }) as Called)
          const isDone = answer.status !== undefined && answer.status < 300
          if (!isDone && !(operation.id in neverSuccessful))
            wrong.push(`${operation.id}: ${JSON.stringify(answer)}`)
        }
      } finally {
        client.stop()
      }
      expect(wrong).toEqual([])
    },
    patientMs,
  )
})
