import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ArtifactPermissions, CheckPack, InstallPack } from '@opsplane/contracts'
import { computeIntegrity, unpackTarball } from '@opsplane/pack-format'
import { type Receiver, startReceiver } from '@opsplane/testing'
import type { Io } from '../io.js'
import { runCli } from '../program.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opsplane-packs-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function run(args: string[], env: Io['env'] = {}) {
  let [out, err] = ['', '']
  const io: Io = {
    env: { XDG_CONFIG_HOME: folder, OPSPLANE_HOME: join(folder, 'none'), ...env },
    out: (text) => (out += text),
    async write(text) {
      out += text
    },
    err: (text) => (err += text),
    columns: undefined,
    readInput: async () => '',
    askSecret: undefined,
    interruption: () => new AbortController().signal,
    nowMs: () => Date.parse('2026-01-31T12:00:00Z'),
  }
  return { code: await runCli(args, io), out, err }
}

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
const change = (path: string, from: string, to: string) =>
  write(path, readFileSync(join(folder, path), 'utf8').replace(from, to))
const pack = () => join(folder, 'my-pack')
const begin = async () => expect((await run(['packs', 'init', pack()])).code).toBe(0)

describe('a pack created by packs init', () => {
  test('passes packs check and packs test', async () => {
    await begin()
    const checked = await run(['packs', 'check', pack()])
    expect(checked).toMatchObject({ code: 0, err: '' })
    expect(checked.out).toContain('operations of the API: listIncidents')
    const tested = await run(['packs', 'test', pack()])
    expect(tested).toMatchObject({ code: 0 })
    expect(tested.out).toMatch(/^ok {4}my-pack-hello: greets and counts/)
  })

  test('is not overwritten by a second packs init', async () => {
    await begin()
    expect(await run(['packs', 'init', pack()])).toMatchObject({ code: 2 })
  })

  test('prints the difference between the expected and the actual output of a failing test', async () => {
    await begin()
    change('my-pack/src/hello.ts', 'Hello ', 'Bye ')
    const { code, out, err } = await run(['packs', 'test', pack()])
    expect([code, err]).toEqual([1, 'error: 1 failed.\n'])
    expect(out).toContain('FAIL  my-pack-hello: greets and counts')
    expect(out).toContain('output/text: is another value')
    expect(out).toContain('expected "Hello Ada"')
    expect(out).toContain('actual   "Bye Ada"')
  })

  test('is type-checked where TypeScript is installed', async () => {
    await begin()
    const typescript = fileURLToPath(new URL('../../../node_modules/typescript', import.meta.url))
    mkdirSync(join(pack(), 'node_modules'))
    symlinkSync(typescript, join(pack(), 'node_modules', 'typescript'))
    expect(await run(['packs', 'check', pack()])).toMatchObject({ code: 0 })
    change('my-pack/src/hello.ts', 'host.log.info', 'host.log.shout')
    const { code, out } = await run(['packs', 'check', pack()])
    expect(code).toBe(1)
    expect(out).toMatch(/src\/hello\.ts:\d+:\d+: Property 'shout' does not exist.*\[TS2339\]/)
  })

  test('reports the location and the cause of a problem in its manifest', async () => {
    await begin()
    change('my-pack/opsplane.pack.json', 'tests/hello.json', 'tests/none.json')
    const { code, out } = await run(['packs', 'check', pack()])
    expect(code).toBe(1)
    expect(out).toContain('opsplane.pack.json#/artifacts/0/tests: names tests/none.json')
  })
})

describe('an import in the source of a pack', () => {
  test('is bundled and runs if it is an npm package', async () => {
    await begin()
    const dependency = 'my-pack/node_modules/louder'
    write(`${dependency}/package.json`, '{"name":"louder","version":"1.0.0","main":"index.js"}')
    write(`${dependency}/index.js`, 'module.exports = (text) => text.toUpperCase()')
    change('my-pack/src/hello.ts', "'@opsplane/sdk'\n", "'@opsplane/sdk'\nimport louder from 'louder'\n")
    change('my-pack/src/hello.ts', 'text: ', 'text: louder(')
    change('my-pack/src/hello.ts', '`, open', '`), open')
    change('my-pack/tests/hello.json', 'Hello Ada', 'HELLO ADA')
    expect(await run(['packs', 'test', pack()])).toMatchObject({ code: 0 })
  })

  test('is reported as a problem if it is a Node module', async () => {
    await begin()
    change('my-pack/src/hello.ts', "'@opsplane/sdk'\n", "'@opsplane/sdk'\nimport 'node:fs'\n")
    const { code, err } = await run(['packs', 'test', pack()])
    expect(code).toBe(1)
    expect(err).toContain('the sandbox has no modules of Node')
  })
})

describe('packs install', () => {
  const asks = ArtifactPermissions.parse({ api: ['listIncidents'] })
  const check = {
    ...{ name: 'my-pack', packVersion: '0.1.0', integrity: computeIntegrity(''), change: 'install', asks },
    ...{
      installedVersion: null,
      artifacts: [],
      removes: [],
      needs: [],
      missing: [],
      problems: [],
      breaks: [],
      warnings: [],
    },
  }
  const installed = {
    ...{ id: 'pck_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'my-pack', title: 'my-pack', description: '' },
    ...{
      status: 'active',
      packVersion: '0.1.0',
      integrity: computeIntegrity(''),
      source: 'tarball',
      artifacts: [],
    },
    ...{
      warnings: [],
      granted: asks,
      ownerId: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
      suspendedFor: [],
      version: 1,
    },
    ...{ createdAt: '2026-01-31T12:00:00.000Z', updatedAt: '2026-01-31T12:00:00.000Z' },
  }
  let server: Receiver
  beforeEach(async () => {
    server = await startReceiver({
      tls: false,
      respond: ({ path }) => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ data: path.endsWith('/check') ? check : installed, meta: { requestId: 'r' } }),
      }),
    })
  })
  afterEach(() => server.stop())
  const asUser = () => ({ OPSPLANE_URL: server.url, OPSPLANE_API_KEY: 'ops_key', OPSPLANE_WORKSPACE: 'acme' })
  const sent = () => server.received().map(({ rawBody }) => JSON.parse(String(rawBody)) as unknown)

  test('lists the requested permissions, and installs the pack only with --grant', async () => {
    await begin()
    const refused = await run(['packs', 'install', pack()], asUser())
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('operations of the API: listIncidents')
    expect(sent()).toHaveLength(1)
    expect(await run(['packs', 'install', pack(), '--grant'], asUser())).toMatchObject({ code: 0 })
    const body = InstallPack.parse(sent().at(-1))
    expect(body.grant).toEqual(asks)
    const bytes = Buffer.from(body.tarball ?? '', 'base64')
    expect(body.integrity).toBe(computeIntegrity(bytes))
    expect(Object.keys(await unpackTarball(bytes)).sort()).toEqual([
      'opsplane.pack.json',
      'src/hello.ts',
      'tests/hello.json',
    ])
  })

  test('only checks the pack with --dry-run', async () => {
    const shown = await run(['packs', 'install', 'itsm-essentials', '--available', '--dry-run'], asUser())
    expect(shown).toMatchObject({ code: 0 })
    expect(shown.out).toContain('my-pack 0.1.0: install')
    expect(sent().map((body) => CheckPack.parse(body))).toEqual([{ available: 'itsm-essentials' }])
  })
})
