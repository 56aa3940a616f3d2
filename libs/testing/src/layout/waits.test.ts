import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** Patterns that make a test wait for time, or fail on a slow machine. */
const rules: Record<
  string,
  { isBroken(source: string): boolean; instead: string; except: Record<string, string> }
> = {
  timers: {
    isBroken: matches(
      /(?<![.\w])(?:setTimeout|setInterval|delay|sleep)\(|import \{[^}]*\bsetTimeout\b[^}]*\} from 'node:timers\/promises'/,
    ),
    instead: 'waitFor or settled, and pace between the requests of a load',
    except: {
      'libs/eventstore/src/consume/simulation/consumer-run.fixture.ts': 'simulated time',
      'libs/nats/src/durable-consumer.int.test.ts': 'a server stands still for a while',
      'libs/nats/src/wait-for.fixture.ts': 'waits for states, below @opsplane/testing',
      'libs/postgres/src/due-work/scratch.fixture.ts': 'waits for states, below @opsplane/testing',
      'libs/postgres/src/embedded.int.test.ts': 'clients that connect all the time',
      'libs/postgres/src/fixture/hostile-server.ts': 'a server that hangs up',
      'libs/postgres/src/fixture/lease-and-hang.ts': 'a process that hangs',
      'libs/postgres/src/fixture/rewrap-and-hang.ts': 'a process that hangs',
      'libs/runtime/src/heap-growth.test.ts': 'what V8 reports after a collection, in a process of its own',
      'libs/sandbox/src/code/code-pool.test.ts': 'waits for states, below @opsplane/testing',
      'libs/sandbox/src/fixture/obedient-child.ts': 'a child that answers late',
      'libs/sandbox/src/pool/pool.test.ts': 'waits for states, below @opsplane/testing',
      'services/analytics/src/export/export.fixture.ts': 'an endpoint that is slow by design',
      'services/dispatcher/src/delivery/ordering/ordered-watermark.int.test.ts':
        'keeps a message unacknowledged',
      'services/dispatcher/src/fixture/hostile-receivers.ts': 'endpoints that are slow by design',
      'services/dispatcher/src/fixture/topic-clients.ts': 'clients that pause before they ask again',
      'services/itsm/src/knowledge/embedding/model/counting.fixture.ts': 'a process that hangs',
      'services/workflows/src/engine/simulation/clock.fixture.ts': 'a simulated clock',
      'test-e2e/src/even-load.ts': 'a load at an even rate',
      'test-e2e/src/replicas/platform.ts': 'the pause of an orchestrator before it ends a process',
    },
  },
  elapsed: {
    isBroken: matches(
      /\b(?:Date|performance)\.now\(\)\s*(?:-\s*(?!process\.uptime)[a-z]\w*\b(?!\s*\*)|[<>])/,
    ),
    instead: 'a state that can be observed, a clock of the test, or the bench',
    except: {
      'libs/nats/src/durable-consumer.int.test.ts': 'a process that is held up computes',
      'libs/nats/src/pull/pull.int.test.ts':
        'tells whether the machine was quick enough to show something, and tries again',
      'libs/nats/src/wait-for.fixture.ts': 'waits for states, below @opsplane/testing',
      'libs/postgres/src/due-work/scratch.fixture.ts': 'waits for states, below @opsplane/testing',
      'libs/sandbox/src/pool/pool.test.ts':
        'tells whether the machine was quick enough to show something, and tries again',
      'services/itsm/src/settings/settings.int.test.ts': 'the next millisecond',
      'test-e2e/src/even-load.ts': 'a load at an even rate',
      'test-e2e/src/replicas/own-work.ts': 'an artifact that computes',
      'test-e2e/src/replicas/replicas.e2e.test.ts': 'what a limit gives back with time',
    },
  },
  limits: {
    isBroken: hasOwnLimit,
    instead: 'the limit of its kind, in libs/testing/src/limits.ts',
    except: {},
  },
}

function matches(forbidden: RegExp): (source: string) => boolean {
  return (source) => forbidden.test(source)
}

/** Whether a test or hook has its own timeout argument, recognized by the formatter's layout. */
function hasOwnLimit(source: string): boolean {
  if (source.includes('jest.setTimeout(')) return true
  const lines = source.split('\n')
  return lines.some((line, at) => {
    const [, indent] = /^( *)(?:test|it|(?:before|after)(?:All|Each))\b/.exec(line) ?? []
    if (indent === undefined || /\)$/.test(line)) return false
    const isEnd = (other: string) => other.startsWith(`${indent}}`) || other === `${indent})`
    const end = lines.findIndex((other, place) => place > at && isEnd(other))
    const given = /^ *\}, (.+)\)$/.exec(lines[end] ?? '') ?? /^ +([^ ].*),$/.exec(lines[end - 1] ?? '')
    return /^[\w.]+(?: [+*] [\w.]+)*$/.test(given?.[1] ?? '')
  })
}

const isOfTests = (path: string) =>
  /\.(?:test|fixture)\.tsx?$|\/fixture\/[^/]+\.ts$|^test-e2e\/src\/.*\.ts$/.test(path)

const files = ['libs', 'services', 'deploy', 'cli', 'client', 'docs/examples', 'test-e2e'].flatMap((folder) =>
  sourceFolders(folder).flatMap((path) =>
    readdirSync(`${root}${path}`, { recursive: true, encoding: 'utf8' })
      .map((file) => `${path}/${file}`)
      .filter(isOfTests),
  ),
)

/** The `src` of a package, or of the packages in a folder. */
function sourceFolders(folder: string): string[] {
  const entries = readdirSync(`${root}${folder}`, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  )
  if (entries.some(({ name }) => name === 'src')) return [`${folder}/src`]
  return entries.flatMap(({ name }) =>
    readdirSync(`${root}${folder}/${name}`).includes('src') ? [`${folder}/${name}/src`] : [],
  )
}

const sources = new Map(files.map((path) => [path, readFileSync(`${root}${path}`, 'utf8')]))
const own = 'libs/testing/src/layout/waits.test.ts'

test('the test files are found', () => {
  expect(files.length).toBeGreaterThan(700)
  expect(files).toContain('test-e2e/src/crash-load.ts')
})

describe.each(Object.entries(rules))('%s', (_, { isBroken, instead, except }) => {
  test(`are left out of tests: ${instead}`, () => {
    const found = files.filter(
      (path) => path !== own && !(path in except) && isBroken(sources.get(path) ?? ''),
    )
    expect(found).toEqual([])
  })

  test('every exception is still needed', () => {
    expect(Object.keys(except).filter((path) => !isBroken(sources.get(path) ?? ''))).toEqual([])
  })
})

test.each([
  ['timers', 'await new Promise((resolve) => setTimeout(resolve, 200))', true],
  ['timers', "import { setTimeout as pause } from 'node:timers/promises'", true],
  ['timers', 'await delay(500)', true],
  ['timers', "import { setImmediate as turn } from 'node:timers/promises'", false],
  ['timers', 'await clock.sleep(20)', false],
  ['elapsed', 'expect(Date.now() - began).toBeLessThan(2_000)', true],
  ['elapsed', 'while (performance.now() < until) await turn()', true],
  ['elapsed', 'const from = new Date(Date.now() - days * dayMs)', false],
  ['elapsed', 'const from = new Date(Date.now() - 3_600_000)', false],
  ['limits', "test('it', async () => {\n  await done()\n}, 300_000)", true],
  ['limits', '  beforeAll(async () => {\n    a = 1\n  }, startMs)', true],
  ['limits', "test(\n  'it',\n  async () => {\n    await done()\n  },\n  300_000 + kills,\n)", true],
  ['limits', "it.each([\n  1,\n])(\n  'it',\n  async () => {\n    await done()\n  },\n  300_000,\n)", true],
  ['limits', 'jest.setTimeout(1_000)', true],
  ['limits', "test('it', async () => {\n  make(() => {\n    work()\n  }, leaseMs)\n})", false],
  ['limits', "test('it', async () => {\n  expect(a).toBe(1)\n})\n\nconst b = made({\n}, 3)", false],
] as const)('the rule %s forbids %j: %s', (rule, source, is) => {
  expect(rules[rule]?.isBroken(source)).toBe(is)
})
