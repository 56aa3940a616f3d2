import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { openState } from '@opsplane/local/state'
import { masterKeyId } from '@opsplane/runtime'
import type { ReceiverResponse } from '@opsplane/testing'
import { type CliFixture, refusal, startCliFixture } from './fixture/program-fixture.js'

let fixture: CliFixture
let { folder, server, answers, run, asUser } = {} as CliFixture
beforeEach(async () => {
  fixture = await startCliFixture()
  ;({ folder, server, answers, run, asUser } = fixture)
})
afterEach(() => fixture?.stop())

describe('audit export', () => {
  const lines = ['{"id":"evt_1"}', '{"id":"evt_2"}']
  const whole = `${[...lines, '{"complete":true,"count":2}'].join('\n')}\n`
  const stream = (body: string): ReceiverResponse => ({
    status: 200,
    headers: { 'content-type': 'application/x-ndjson' },
    body,
  })
  const target = () => join(folder, 'audit.ndjson')
  const toFile = (...more: string[]) => run(['audit', 'export', '--output', target(), ...more], asUser())

  test('streams the log to standard output and reports on standard error that it is complete', async () => {
    answers.push(stream(whole))
    const args = ['audit', 'export', '--json', '--type=a.*', '--from=2h', '--to=2026-01-31']
    const { code, out, err } = await run(args, asUser())
    expect({ code, out, err }).toEqual({ code: 0, out: whole, err: '2 events; the copy is whole.\n' })
    expect(server.received()[0]?.path).toBe(
      '/api/v1/audit/export?type=a.*&from=2026-01-31T10%3A00%3A00.000Z&to=2026-01-31T00%3A00%3A00.000Z',
    )
  })

  test('writes a file only its owner can read, and replaces an existing file only with --force', async () => {
    writeFileSync(`${target()}.part`, 'of a run that was killed', { mode: 0o644 })
    answers.push(stream(whole))
    const { code, out } = await toFile('--json')
    expect({ code, out: JSON.parse(out) }).toEqual({ code: 0, out: { file: target(), events: 2 } })
    expect([readFileSync(target(), 'utf8'), statSync(target()).mode & 0o777]).toEqual([whole, 0o600])

    expect(await toFile()).toMatchObject({ code: 2, err: expect.stringContaining('--force') })
    expect(server.received()).toHaveLength(1)
    answers.push(stream('{"complete":true,"count":0}\n'))
    expect(await toFile('--force')).toMatchObject({ code: 0, out: expect.stringContaining('events  0') })
  })

  test.each([
    ['without its last line', `${lines.join('\n')}\n`, 3, 'cut off after 1 events'],
    ['cut off in its last line', whole.slice(0, -1), 3, 'cut off after 1 events'],
    ['empty', '', 3, 'cut off after 0 events'],
    [
      'of fewer events than it says',
      whole.replace(`${lines[0]}\n`, ''),
      1,
      'says it has 2 events, but 1 arrived',
    ],
  ])('fails and leaves no file when the response is %s', async (_what, body, code, message) => {
    answers.push(stream(body), stream(body))
    expect(await toFile()).toMatchObject({ code, out: '', err: expect.stringContaining(message) })
    expect(readdirSync(folder)).toEqual([])
    expect((await run(['audit', 'export'], asUser())).code).toBe(code)
  })

  test('retries a 503 before the first line, and prints a refusal in one line', async () => {
    answers.push({ status: 503, body: 'proxy' }, stream(whole))
    expect((await run(['audit', 'export'], asUser())).code).toBe(0)
    answers.push(refusal(new ApiError('forbidden', 'audit:read is missing.')))
    expect(await toFile()).toMatchObject({ code: 1, err: expect.stringContaining('audit:read is missing') })
    expect(readdirSync(folder)).toEqual([])
  })

  test('sends no request when the file cannot be written', async () => {
    const args = ['audit', 'export', '--output', join(folder, 'none', 'audit.ndjson')]
    expect(await run(args, asUser())).toMatchObject({ code: 1, err: expect.stringContaining('ENOENT') })
    expect(server.received()).toEqual([])
  })
})

describe('rotate-master-key for a platform on this machine', () => {
  const home = () => join(folder, 'home')
  const rotate = (...args: string[]) => run(['rotate-master-key', '--json', '--home', home(), ...args])
  /** The keys in the shell belong to another platform. */
  const shell = { OPSPLANE_MASTER_KEY: Buffer.alloc(32, 1).toString('base64') }

  test('stores the new key and the current one for the next start, and never prints either', async () => {
    const present = openState(home()).secrets().masterKey
    expect(JSON.parse((await rotate('--dry-run')).out).previousKeyIds).toEqual([])
    expect(openState(home()).secrets().masterKey).toBe(present)

    const prepared = await run(['rotate-master-key', '--json', '--home', home()], { env: shell })
    expect(prepared).toMatchObject({ code: 0, err: expect.stringContaining('Restart the platform') })
    const { masterKey, previousMasterKeys } = openState(home()).secrets()
    expect(previousMasterKeys).toEqual([present])
    const ids = { keyId: masterKeyId(masterKey), previousKeyIds: [masterKeyId(present)] }
    expect(JSON.parse(prepared.out)).toEqual(ids)
    expect(JSON.parse((await rotate()).out)).toEqual(ids)
    for (const key of [present, masterKey]) expect(prepared.out + prepared.err).not.toContain(key)

    const early = await run(['rotate-data-key', '--workspace=ws_1', '--home', home()])
    expect(early).toMatchObject({ code: 1, err: expect.stringContaining('restart it first') })
  })

  test('rejects --keys-stdin, and --check while the platform is stopped', async () => {
    openState(home()).secrets()
    expect(await rotate('--keys-stdin')).toMatchObject({
      code: 2,
      err: expect.stringContaining('secrets.json'),
    })
    expect(await rotate('--check')).toMatchObject({ code: 2, err: expect.stringContaining('npm start') })
  })
})
