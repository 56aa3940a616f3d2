import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parseServerTarget } from './server-target.js'

let folder: string
let ca: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'opsplane-target-'))
  ca = join(folder, 'ca.pem')
  writeFileSync(ca, 'an authority')
})
afterAll(() => rmSync(folder, { recursive: true }))

const base = 'postgres://itsm:p%40ss@db.example:5432/ops'

describe('a Postgres URL', () => {
  test.each([
    ['without parameters', base, base, false],
    ['behind a pooler', `${base}?pooler=transaction`, base, true],
    [
      'with parameters of the client',
      `${base}?pooler=transaction&sslmode=require`,
      `${base}?sslmode=require`,
      true,
    ],
    ['of several hosts', 'postgres://u@a:1,b:2/x?target_session_attrs=primary', undefined, false],
    ['with the authorities of the system', `${base}?sslrootcert=system`, undefined, false],
  ])('%s', (_what, url, target = url, pooled) => {
    expect(parseServerTarget(url)).toEqual({ url: target, pooled })
  })

  test.each([
    ['', true, true],
    ['&sslmode=verify-full', true, true],
    ['&sslmode=verify-ca', true, false],
    ['&sslmode=require', true, false],
  ])('sslrootcert is read and removed from the URL%s', (mode, rejectUnauthorized, checksName) => {
    const { url, ssl } = parseServerTarget(`${base}?sslrootcert=${encodeURIComponent(ca)}${mode}`)
    expect(url).toBe(base)
    expect(ssl).toMatchObject({ ca: 'an authority', rejectUnauthorized })
    const stranger = { subject: { CN: 'other.example' }, subjectaltname: 'DNS:other.example' }
    const problem = ssl?.checkServerIdentity?.('db.example', stranger as never)
    expect(problem !== undefined).toBe(checksName)
  })

  test('sslmode=disable disables TLS, whatever files are named', () => {
    expect(parseServerTarget(`${base}?sslmode=disable&sslrootcert=${ca}`).ssl).toBeUndefined()
  })

  test('checks the certificate for an IP address, which the client does not pass on', () => {
    const { ssl } = parseServerTarget(`postgres://u@10.0.0.7:5432/x?sslrootcert=${ca}`)
    const peer = { subject: { CN: '' }, subjectaltname: 'IP Address:10.0.0.7' }
    expect(ssl?.checkServerIdentity?.('localhost', peer as never)).toBeUndefined()
  })

  test('names the parameter of a file that cannot be read', () => {
    expect(() => parseServerTarget(`${base}?sslrootcert=${folder}/none.pem`)).toThrow(
      /The file of sslrootcert in the URL of Postgres cannot be read: ENOENT/,
    )
  })
})
