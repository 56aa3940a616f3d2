import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import fc from 'fast-check'
import { createJudge, errorCode, type Judge, namesPlace } from './fuzz/answers.js'
import { edgeValues, type ValueRange } from './fuzz/arbitrary.js'
import { authorizationTests } from './fuzz/authorization.js'
import { breakBody, rotateList } from './fuzz/breakage.js'
import {
  acceptsAnyName,
  listOperations,
  type OpenApi,
  type Operation,
  parametersIn,
} from './fuzz/document.js'
import { everyOperation as tryEveryOperation } from './fuzz/every-operation.js'
import type { Answer, Fields, Sent } from './fuzz/exchange.js'
import { neverSuccessful } from './fuzz/expectations.js'
import { isPassedOn, newKey, repeater } from './fuzz/repetition.js'
import { allowedRequests, edgeRequests } from './fuzz/requests.js'
import { resolvingTests } from './fuzz/resolving.js'
import {
  createFuzzResources,
  encodeQuery,
  type FuzzResources,
  fillPath,
  removedPaths,
} from './fuzz/resources.js'
import { fetchOpenApi, startTestCluster } from './platform.js'

const runs = Number(process.env.FUZZ_RUNS ?? 1)
const seed = Number(process.env.FUZZ_SEED ?? 20_261_121)
/** Number of ways in which each field is broken, rotating between fields; a longer run tries all of them. */
const waysEach = runs > 1 ? Infinity : 1

/**
 * The subject of these operations may end before the request arrives, such as an export of few rows: repeated until
 * one arrives in time.
 */
const racing = new Set(['cancelExport', 'cancelRecordImport'])

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let receiver: Receiver
let document: OpenApi
let operations: Operation[]
let world: FuzzResources
let judge: Judge
let repetitions: ReturnType<typeof repeater>

beforeAll(async () => {
  let failures = 2
  cluster = await startTestCluster({
    extra: {
      RATE_LIMIT_PER_MINUTE: '0',
      ANONYMOUS_RATE_LIMIT_PER_MINUTE: '0',
      ANONYMOUS_BYTES_PER_MINUTE: '0',
      // Avoids a model in a separate process: articles are not searched here.
      EMBEDDINGS_LOCAL: 'false',
      TRUST_PROXY_CIDRS: '127.0.0.0/8',
    },
  })
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: ({ path }) => ({
      status: path === '/gone' ? 410 : path === '/flaky' && failures-- > 0 ? 500 : 200,
    }),
  })
  document = await fetchOpenApi<OpenApi>(cluster.info)
  operations = listOperations(document)
  judge = createJudge(document)
  world = await createFuzzResources(document, cluster.info, receiver)
  repetitions = repeater(world.send)
  untouched = world.sharedPathValues()
})

afterAll(async () => {
  await receiver?.stop()
  await cluster?.stop()
  process.stdout.write(
    `fuzz: ${operations?.length} operations, ${world?.requests()} requests, seed ${seed}, ${JSON.stringify(world?.statuses)}\n`,
  )
})

const everyOperation = (work: (operation: Operation) => Promise<string[]>) =>
  tryEveryOperation(operations, world, work)

const asked = ({ method, target, text }: Sent) => `${method} ${target} ${text?.slice(0, 300) ?? ''}`

async function call(
  operation: Operation,
  request: Partial<Sent> & { target: string },
): Promise<[Sent, Answer]> {
  const { headers, ...rest } = request
  const sent: Sent = {
    method: operation.method,
    ...rest,
    headers: {
      ...(operation.secured && headers?.authorization === undefined && !('authorization' in (headers ?? {}))
        ? { authorization: `Bearer ${await world.credential(operation)}` }
        : {}),
      ...(rest.text === undefined && !operation.upload
        ? {}
        : { 'content-type': operation.upload ?? 'application/json' }),
      ...headers,
    },
    ...(operation.upload ? { text: world.file } : {}),
  }
  return [sent, await world.send(sent)]
}

/** Sends a request that must be rejected with this code, and whose error must name the place. */
async function refused(
  operation: Operation,
  request: Partial<Sent> & { target: string },
  codes: string[],
  place?: ['body' | 'query' | 'path' | 'header', string],
): Promise<string[]> {
  const [sent, answer] = await call(operation, request)
  const problems = judge.problems(operation, answer)
  const code = errorCode(answer)
  if (code === undefined || !codes.includes(code))
    problems.push(`${answer.status} ${code} instead of ${codes.join(' or ')}`)
  else if (place && !namesPlace(answer, ...place))
    problems.push(`does not name ${place.join(' ')}: ${answer.text}`)
  return problems.map((problem) => `${problem} — ${asked(sent)}`)
}

/**
 * Cases that every operation handles alike: `count` of them for each operation, the next ones for the next; a longer
 * run tries all.
 */
const someFor = <T>(operation: Operation, all: readonly T[], count: number): readonly T[] =>
  runs > 1 ? all : rotateList(all, count * operations.indexOf(operation)).slice(0, count)

const succeeded = new Set<string>()

async function goodTarget(operation: Operation): Promise<string> {
  return fillPath(operation.path, await world.pathValues(operation))
}
let untouched: ReturnType<FuzzResources['sharedPathValues']>
/** The same resource for all requests that leave it unchanged: those that are rejected, or only read. */
const sharedTarget = async (operation: Operation): Promise<string> =>
  fillPath(operation.path, await untouched(operation))
const goodText = (operation: Operation) =>
  operation.body === undefined ? undefined : JSON.stringify(world.goodBody(operation))

test('every operation succeeds with its documented example', async () => {
  const tryExample = async (operation: Operation) =>
    call(operation, {
      target: await (operation.method === 'GET' ? sharedTarget : goodTarget)(operation),
      text: goodText(operation),
      headers: newKey(operation),
    })
  const inTime = (operation: Operation) =>
    waitFor(
      async () => {
        const tried = await tryExample(operation)
        return errorCode(tried[1]) !== 'invalid_state_transition' && tried
      },
      { intervalMs: 0 },
    )
  await everyOperation(async (operation) => {
    const [sent, answer] = await (racing.has(operation.id) ? inTime : tryExample)(operation)
    const done = answer.status < 300
    if (done) succeeded.add(operation.id)
    return [
      ...judge.problems(operation, answer),
      ...(done ? await repetitions.problems(operation, sent, answer) : []),
      ...(done || operation.id in neverSuccessful ? [] : [`${answer.status} ${answer.text}`]),
    ].map((problem) => `${problem} — ${asked(sent)}`)
  })
})

// After the tests of the examples, which need resources in their original state, and before the random requests.
describe('authorization', () => authorizationTests(() => ({ cluster, operations, world, untouched })))

describe('resolving ids', () => resolvingTests(() => ({ cluster, document, world })))

const textValues = (values: Fields) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))

const usedUp = new Set(['invalid_state_transition', 'not_found'])

const prepared = new Map<string, Record<string, string>>()
/** The resource an operation is tried on, reused until it is used up: preparing one costs more than a request. */
async function realValues(operation: Operation): Promise<Record<string, string>> {
  if (operation.method === 'GET') return { ...(await untouched(operation)) }
  const values =
    (!removedPaths.test(operation.path) && prepared.get(operation.id)) || (await world.pathValues(operation))
  prepared.set(operation.id, values)
  return values
}
async function renewIfUsedUp(
  operation: Operation,
  values: Record<string, string>,
  answer: Answer,
): Promise<void> {
  if (usedUp.has(errorCode(answer) ?? '')) Object.assign(values, await world.pathValues(operation))
}

async function fuzz(operation: Operation, taste: ValueRange): Promise<string[]> {
  const real = await realValues(operation)
  const named = { url: [`${receiver.url}/ok`, 'https://receiver.invalid/x'] }
  const make = taste === 'valid' ? allowedRequests : edgeRequests
  const requests = make(operation, { document, taste, named }, world, real)
  const property = fc.asyncProperty(requests, async ({ path, query, headers, body }) => {
    // An empty or dotted path value changes the URL, which then belongs to another operation.
    fc.pre(Object.values(path).every((value) => !['', '.', '..'].includes(String(value))))
    const target = `${fillPath(operation.path, textValues(path))}${encodeQuery(query)}`
    const text = body === undefined ? undefined : JSON.stringify(body)
    const [, answer] = await call(operation, { target, text, headers })
    if (answer.status < 300) succeeded.add(operation.id)
    // The previous request may have ended or deleted the resource; without a new one all others would fail for that
    // reason.
    if (path === real) await renewIfUsedUp(operation, real, answer)
    const problems = judge.problems(operation, answer)
    if (problems.length > 0) throw new Error(`${problems.join('; ')} (${answer.text.slice(0, 300)})`)
  })
  const details = await fc.check(property, { seed, numRuns: runs })
  return failures(details)
}

function failures<T>({
  failed,
  errorInstance,
  counterexample,
  counterexamplePath,
}: fc.RunDetails<T>): string[] {
  if (!failed) return []
  return [`${errorInstance} — ${JSON.stringify(counterexample)?.slice(0, 500)} (path ${counterexamplePath})`]
}

/**
 * Kinds of random values: every second operation is tried with one of the three, in rotation; a longer run
 * tries all.
 */
const randomKinds = ['valid', 'boundary', 'any'] as const
const isTried = (operation: Operation, kind: (typeof randomKinds)[number]) => {
  const place = operations.indexOf(operation)
  if (runs > 1) return true
  const kinds = operation.body ? randomKinds : randomKinds.slice(0, 2)
  return place % 2 === 0 && kinds[(place / 2) % kinds.length] === kind
}

test('values that the schemas allow get a documented response', () =>
  everyOperation(async (each) => (isTried(each, 'valid') ? fuzz(each, 'valid') : [])))

test('values at and beyond the limits get a documented response', () =>
  everyOperation(async (each) => (isTried(each, 'boundary') ? fuzz(each, 'boundary') : [])))

test('arbitrary JSON bodies get a documented response', async () => {
  await everyOperation(async (operation) => {
    if (!operation.body || !isTried(operation, 'any')) return []
    const real = await realValues(operation)
    const property = fc.asyncProperty(edgeValues, async (body) => {
      const target = fillPath(operation.path, real)
      const [, answer] = await call(operation, { target, text: JSON.stringify(body) })
      const problems = judge.problems(operation, answer)
      if (problems.length > 0) throw new Error(problems.join('; '))
    })
    return failures(await fc.check(property, { seed, numRuns: runs }))
  })
})

/** Bulk operations accept 16 MiB; packs and the input of artifacts may be large as well. */
const large = /\/(bulk|batch)$|^\/sdk\/packs\/|^\/sdk\/artifacts\/\{id\}\/invoke$/
const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')

test('a body with a single error is rejected, and the error names its location', async () => {
  await everyOperation(async (operation) => {
    if (!operation.body || isPassedOn.test(operation.path)) return []
    const target = await sharedTarget(operation)
    const problems: string[] = []
    const good = world.goodBody(operation)
    const broken = breakBody(document, operation.body, good, waysEach)
    for (const { text, pointer } of someFor(operation, broken, 1)) {
      if (judge.allows(operation, JSON.parse(text)) && !/\\u0000|\\ud800/.test(text)) continue
      problems.push(...(await refused(operation, { target, text }, ['validation_failed'], ['body', pointer])))
    }
    const goodJson = JSON.stringify(good)
    const invalid = ['validation_failed']
    const deep = `{"unknown":${'['.repeat(5000)}${']'.repeat(5000)}}`
    const wrong: [Partial<Sent>, string[]][] = [
      [{ text: goodJson.slice(0, -1) }, ['malformed_json']],
      [{ text: '{"__proto__":{"a":1}}' }, invalid],
      [{ text: '[]' }, invalid],
      [{ text: 'null' }, invalid],
      [{ text: deep }, invalid],
      // Anonymous requests have a smaller body limit.
      [{ text: `{"unknown":{${keys(2_001)}}}` }, [...invalid, 'payload_too_large']],
      [{ text: `{"unknown":[${'0,'.repeat(10_000)}0]}` }, [...invalid, 'payload_too_large']],
      [{ text: goodJson, headers: { 'content-type': 'text/plain' } }, ['unsupported_media_type']],
      [{ text: goodJson, headers: { 'content-encoding': 'gzip' } }, ['unsupported_media_type']],
      [
        { text: `{"a":"${'x'.repeat(2_200_000)}"}` },
        large.test(operation.path) ? [...invalid, 'payload_too_large'] : ['payload_too_large'],
      ],
    ]
    for (const [request, codes] of someFor(operation, wrong, 1))
      problems.push(...(await refused(operation, { target, ...request }, codes)))
    return problems
  })
})

type WrongQuery = [search: string, codes: string[], pointer?: string]

function wrongQueries(operation: Operation): WrongQuery[] {
  const invalid = ['validation_failed']
  const wrong: WrongQuery[] = [
    ['x=%E0%A4%A', ['malformed_url']],
    [`${'x&'.repeat(500)}x`, invalid],
  ]
  if (!isPassedOn.test(operation.path))
    wrong.push(['unknown=1', invalid, '/unknown'], ['__proto__=1', invalid, '/__proto__'])
  for (const { name, schema } of parametersIn(operation, 'query')) {
    if (schema.type !== 'array') wrong.push([`${name}=1&${name}=2`, invalid, `/${name}`])
    if (schema.enum) wrong.push([`${name}=nosuchvalue`, invalid, `/${name}`])
    if (schema.format === 'date-time') wrong.push([`${name}=yesterday`, invalid, `/${name}`])
    if (schema.maximum !== undefined) wrong.push([`${name}=${schema.maximum + 1}`, invalid, `/${name}`])
    if (schema.maxLength !== undefined)
      wrong.push([`${name}=${'x'.repeat(schema.maxLength + 1)}`, invalid, `/${name}`])
    if (name === 'after') wrong.push(['after=bm90IGEgY3Vyc29y', ['invalid_cursor']])
  }
  return wrong
}

function wrongHeaders(operation: Operation): [Record<string, string | undefined>, string[]][] {
  const known = parametersIn(operation, 'header').map(({ name }) => name)
  const wrong: ReturnType<typeof wrongHeaders> = []
  if (known.includes('X-Workspace'))
    wrong.push(
      [{ 'x-workspace': undefined }, ['workspace_required']],
      [{ 'x-workspace': 'another-workspace' }, ['workspace_forbidden']],
      [{ 'x-environment': 'moon' }, ['validation_failed']],
    )
  if (known.includes('Idempotency-Key'))
    wrong.push([{ 'idempotency-key': 'k'.repeat(300) }, ['idempotency_key_invalid']])
  return wrong
}

test('invalid paths, queries and headers are rejected, and the error names an invalid query parameter', async () => {
  await everyOperation(async (operation) => {
    if (operation.scope === undefined) return []
    const target = await sharedTarget(operation)
    const text = goodText(operation)
    const tries: Promise<string[]>[] = []
    const query = ([search, codes, pointer]: WrongQuery) =>
      tries.push(
        refused(
          operation,
          { target: `${target}?${search}`, text },
          codes,
          pointer ? ['query', pointer] : undefined,
        ),
      )
    for (const each of someFor(operation, wrongQueries(operation), 1)) query(each)
    for (const [headers, codes] of someFor(operation, wrongHeaders(operation), 1))
      tries.push(refused(operation, { target, text, headers }, codes))
    for (const { name } of parametersIn(operation, 'path')) {
      const absentOnes = ['inc_01JZZZZZZZZZZZZZZZZZZZZZZZ', 'no such thing', 'x'.repeat(3000)]
      for (const value of someFor(operation, absentOnes, 1)) {
        if (acceptsAnyName.test(operation.path)) continue
        const absent = operation.path.replaceAll(/\{(\w+)\}/g, (_, each) =>
          each === name ? encodeURIComponent(value) : 'absent',
        )
        tries.push(refused(operation, { target: absent, text }, ['not_found', 'validation_failed']))
      }
    }
    return (await Promise.all(tries)).flat()
  })
})

test('every secured operation rejects a missing or invented credential', async () => {
  await everyOperation(async (operation) => {
    if (!operation.secured) return []
    const target = fillPath(operation.path, {})
    const text = goodText(operation)
    const as = (authorization: string | undefined, codes: string[]) =>
      refused(operation, { target, text, headers: { authorization } }, codes)
    const credentials: [string | undefined, string[]][] = [
      [undefined, ['unauthenticated']],
      ['Basic b3duZXI6eA==', ['unauthenticated', 'invalid_token']],
      ['Bearer ops_key_x_y', ['invalid_token']],
      [`Bearer ${'é'.repeat(20)}`, ['unauthenticated', 'invalid_token']],
    ]
    const problems = await Promise.all(someFor(operation, credentials, 1).map((each) => as(...each)))
    return problems.flat()
  })
})

test('every operation that accepts an Idempotency-Key was repeated with the same key', () => {
  expect(repetitions.missing(operations).filter((id) => !(id in neverSuccessful))).toEqual([])
})

test('every operation has succeeded at least once, and the owner still has access', async () => {
  expect(
    operations.map(({ id }) => id).filter((id) => !succeeded.has(id) && !(id in neverSuccessful)),
  ).toEqual([])
  expect((await world.owner.get('/auth/me')).data.workspace?.slug).toBe(cluster.info.workspace)
})
