import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { bundlePrograms } from '@opsplane/bundler'
import { serviceNames } from '@opsplane/contracts'
import { stage } from './stage.js'

/**
 * Bundles and copies everything, which takes half a minute of CPU: only with TEST_IMAGE, as `npm run test:long`
 * sets.
 */
const described = process.env.TEST_IMAGE === undefined ? describe.skip : describe
const root = fileURLToPath(new URL('../../..', import.meta.url))
const target = realpathSync(mkdtempSync(join(tmpdir(), 'opsplane-stage-')))
const at = (path: string) => join(target, path)
const run = (bundle: string, ...args: string[]) =>
  spawnSync(process.execPath, [at(bundle), ...args], { encoding: 'utf8', env: { HOME: '/' }, cwd: '/' })

described('the tree of the image', () => {
  beforeAll(async () => {
    await bundlePrograms('all')
    stage(root, target)
  })
  afterAll(() => rmSync(target, { recursive: true, force: true }))

  test.each(serviceNames)('%s starts from the copied files alone', (name) => {
    const { status, stdout, stderr } = run(`services/${name}/bundle/main.cjs`)
    expect(`${stdout}${stderr}`).toContain('SERVICE_PRIVATE_KEY is missing')
    expect(status).toBe(1)
  })

  test('the operator command starts, and includes the commands of the CLI', () => {
    const bundle = 'deploy/install/bundle/main.cjs'
    expect(run(bundle, 'migrate')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('DATABASE_URL is missing'),
    })
    expect(run(bundle, 'dead-letters', '--help')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('redrive'),
    })
  })

  test('child processes find their programs and the packages they import', () => {
    const files = ['child/main.js', 'code/child/main.js', 'code/compile/main.js']
    for (const file of files) expect(existsSync(at(`libs/sandbox/dist/${file}`))).toBe(true)
    const { resolve } = createRequire(at('libs/sandbox/dist/code/program.js'))
    for (const name of [
      'jsonata',
      'typescript',
      'quickjs-emscripten-core',
      '@jitl/quickjs-wasmfile-release-sync',
    ])
      expect(realpathSync(resolve(name)).startsWith(target)).toBe(true)
    const core = realpathSync(resolve('quickjs-emscripten-core'))
    expect(createRequire(core).resolve('@jitl/quickjs-ffi-types').startsWith(target)).toBe(true)
  })

  test('the embedded model of the knowledge search starts from the copied files', async () => {
    const file = at('services/itsm/dist/knowledge/embedding/model/main.js')
    const child = spawn(process.execPath, [file], {
      env: {},
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    })
    const errors: Buffer[] = []
    child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk))
    const ended = once(child, 'exit')
    const [first] = await Promise.race([once(child.stdio[3] as Readable, 'data'), ended])
    expect([String(first), Buffer.concat(errors).toString()]).toEqual([expect.stringContaining('ready'), ''])
    child.kill()
    await ended
  })

  test('files that modules read at run time are copied', () => {
    for (const path of [
      ...['libs/eventstore/migrations/meta/_journal.json', 'services/itsm/migrations/meta/_journal.json'],
      ...['services/database-studio/sql', 'services/sdk/packs', 'services/gateway/docs-page/index.html'],
      ...[
        'services/apps/web/bundle/assets.json',
        'console/bundle/assets.json',
        'services/gateway/node_modules/swagger-ui-dist/swagger-ui.css',
      ],
    ])
      expect([path, existsSync(at(path))]).toEqual([path, true])
  })
})
