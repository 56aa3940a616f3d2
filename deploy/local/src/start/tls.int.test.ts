import { execFile } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startEmbeddedNats } from '@opsplane/nats/embedded'
import { openClient } from '@opsplane/postgres'
import { startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { waitFor } from '@opsplane/testing'
import { makeInternalCertificate, makeReceiverCertificate } from '../certificate.js'

let folder: string
let certificate: Awaited<ReturnType<typeof makeInternalCertificate>>
/** Certificate of another authority. */
let stranger: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'opsplane-tls-'))
  certificate = await makeInternalCertificate(join(folder, 'own'))
  stranger = (await makeReceiverCertificate(join(folder, 'other'))).caFile
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))

describe('Postgres over TLS, with the authority of sslrootcert', () => {
  let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>

  beforeAll(async () => {
    const dataDir = join(folder, 'postgres')
    server = await startEmbeddedPostgres({ dataDir })
    const { uid, gid } = statSync(dataDir)
    for (const [name, content] of [
      ['server.crt', certificate.cert],
      ['server.key', certificate.key],
    ] as const) {
      writeFileSync(join(dataDir, name), content, { mode: 0o600 })
      chownSync(join(dataDir, name), uid, gid)
    }
    const admin = openClient(server.url, { schema: 'public', max: 1 })
    await admin`alter system set ssl = on`
    await admin`select pg_reload_conf()`
    await waitFor(async () => (await admin`select 1 where current_setting('ssl') = 'on'`).length === 1)
    await admin.end({ timeout: 5 })
  })
  afterAll(() => server.stop())

  /** Whether the connection is encrypted, or the reason it failed. */
  const ask = async (host: string, query: string) => {
    const url = `${server.url.replace('127.0.0.1', host)}?${query}`
    const sql = openClient(url, { schema: 'public', max: 1 })
    try {
      const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
      return row?.ssl
    } catch (error) {
      return (error as NodeJS.ErrnoException).code
    } finally {
      await sql.end({ timeout: 5 })
    }
  }

  test.each(['', '&sslmode=verify-full', '&sslmode=verify-ca', '&sslmode=require'])(
    'accepts connections to its host name and its IP address%s',
    async (mode) => {
      const query = `sslrootcert=${certificate.caFile}${mode}`
      expect(await ask('localhost', query)).toBe(true)
      expect(await ask('127.0.0.1', query)).toBe(true)
    },
  )

  test('a server certificate of another authority is rejected', async () => {
    const refusals = ['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'CERT_SIGNATURE_FAILURE']
    expect(refusals).toContain(await ask('localhost', `sslrootcert=${stranger}`))
  })
})

describe('NATS over TLS, with the authority of NODE_EXTRA_CA_CERTS', () => {
  let server: Awaited<ReturnType<typeof startEmbeddedNats>>

  beforeAll(async () => {
    const { caFile, keyFile } = certificate
    server = await startEmbeddedNats({
      storeDir: join(folder, 'nats'),
      settings: [`tls { cert_file: ${JSON.stringify(caFile)}, key_file: ${JSON.stringify(keyFile)} }`],
    })
  })
  afterAll(() => server.stop())

  const program = `
    import { requireNats } from './dist/start/external-servers.js'
    await requireNats(process.argv[1], 3_000).then(() => console.log('reached'), (error) => console.log(error.message))`
  const ask = async (caFile: string) => {
    const url = server.url.replace('nats://127.0.0.1', 'tls://localhost')
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', program, url],
      {
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
        env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: caFile },
      },
    )
    return stdout.trim()
  }

  test('accepts a connection', async () => expect(await ask(certificate.caFile)).toBe('reached'))
  test('a server certificate of another authority is rejected', async () =>
    expect(await ask(stranger)).toMatch(/^NATS at localhost/))
})
