import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserSignIn } from '@opsplane/contracts'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import {
  listAllOperations,
  type OpenApi,
  type Operation,
  parametersIn,
  requiredValues,
} from '../fuzz/document.js'
import { neverSuccessful } from '../fuzz/expectations.js'
import { createFuzzResources, type FuzzResources } from '../fuzz/resources.js'
import { fetchOpenApi } from '../platform.js'
import { joinPlatform, type SharedPlatform } from '../shared/platform.js'
import { type Called, type ClientCall, clientMakers, type GeneratedClient, generators } from './generated.js'

/** Needs Python, Go and their registries, and takes minutes: only with TEST_CLIENTS, as `npm run test:long` sets. */
const isWanted = process.env.TEST_CLIENTS === '1'

let platform: SharedPlatform
let receiver: Receiver
let document: OpenApi
let folder: string
/** Number of requests that the endpoint named `flaky` still fails. */
let failures = 0

if (isWanted) {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'opsplane-clients-'))
    platform = await joinPlatform()
    const { key, cert } = platform.certificate
    receiver = await startReceiver({
      tls: { key, cert },
      respond: ({ path }) => ({
        status: path === '/gone' ? 410 : path === '/flaky' && failures-- > 0 ? 500 : 200,
      }),
    })
    document = await fetchOpenApi<OpenApi>(platform.info)
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document))
  })
  afterAll(async () => {
    await receiver?.stop()
    if (folder) rmSync(folder, { recursive: true, force: true })
  })
}

test('the documentation names the tested generators and their versions', () => {
  const text = readFileSync('docs/clients.md', 'utf8')
  const missing = Object.values(generators)
    .flat()
    .filter((name) => !text.includes(name))
  expect(missing).toEqual([])
})

/** Every body that the operation accepts: JSON and file. */
function bodiesOf(operation: Operation, world: FuzzResources): Pick<ClientCall, 'body' | 'file' | 'media'>[] {
  const { body, upload } = operation
  // A media type range cannot be sent.
  const media = upload === '*/*' ? 'text/csv' : upload
  const bodies = [
    ...(body ? [{ body: world.goodBody(operation) }] : []),
    ...(media !== undefined ? [{ file: world.file, media }] : []),
  ]
  return bodies.length > 0 ? bodies : [{}]
}

/** Responses of an operation to each body it accepts. */
async function called(
  client: GeneratedClient,
  world: FuzzResources,
  operation: Operation,
): Promise<Called[]> {
  const { baseUrl, workspace } = platform.info
  const answers: Called[] = []
  for (const body of bodiesOf(operation, world)) {
    const values = await world.pathValues(operation)
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    const inWorkspace = parametersIn(operation, 'header').some(({ name }) => name === 'X-Workspace')
    const call = {
      operation: operation.id,
      url: operation.server ?? baseUrl,
      token: await world.credential(operation),
      path: names.map((name) => values[name] ?? ''),
      params: {
        path: values,
        query: requiredValues(operation, 'query'),
        ...(inWorkspace && { header: { 'X-Workspace': workspace } }),
      },
      ...body,
    }
    answers.push(await client.call(call))
  }
  return answers
}

/** Generated clients read a response completely, and a stream of events has no end. */
const hasAnEnd = ({ raw: { responses } }: Operation) =>
  responses['200']?.content?.['text/event-stream'] === undefined

const isOver = ({ status }: Called) => status === 409 || status === 422

/** Success, or another documented response for operations where success cannot be expected. */
function isRight({ id, raw: { responses } }: Operation, { status }: Called): boolean {
  if (status === undefined || responses[status] === undefined) return false
  // This operation refuses clients that are not browsers.
  return status < 300 || id in neverSuccessful || id === browserSignIn
}

describe.each(Object.entries(clientMakers))('a generated client in %s', (language, make) => {
  const run = isWanted ? test : test.skip
  run('compiles, calls every operation, and reads what is answered as its types say', async () => {
    const place = join(folder, language)
    mkdirSync(place)
    Object.assign(platform.info, await platform.another())
    failures = 2
    const world = await createFuzzResources(document, platform.info, receiver)
    const client = make(join(folder, 'openapi.json'), place)
    const wrong: string[] = []
    try {
      for (const operation of listAllOperations(document).filter(hasAnEnd)) {
        const tries = () => called(client, world, operation)
        // A cancellation may arrive after its subject has ended; it is repeated until one arrives in time.
        const answers = /^cancel/.test(operation.id)
          ? await waitFor(async () => {
              const tried = await tries()
              return !tried.some(isOver) || operation.id in neverSuccessful ? tried : undefined
            })
          : await tries().catch((error: unknown) => [{ error: String(error) }])
        const problems = answers.filter((answer) => !isRight(operation, answer))
        wrong.push(...problems.map((answer) => `${operation.id}: ${JSON.stringify(answer)}`))
      }
    } finally {
      client.stop()
    }
    expect(wrong).toEqual([])
  })
})
