import { describe, expect, it } from '@jest/globals'
import { ConfigError } from '@opsplane/runtime'
import { loadConfig } from './config.js'

const env = {
  DATABASE_URL: 'postgres://localhost/opsplane',
  SERVICE_PRIVATE_KEY: 'key',
  AUDIT_SIGNING_KEY: 'another key',
  TRUSTED_SERVICE_KEYS: '{}',
  CURSOR_SECRET: 'x'.repeat(32),
  OPSPLANE_MASTER_KEY: Buffer.alloc(32).toString('base64'),
}

describe('the configuration of settings', () => {
  it('has defaults for lifetimes and limits', () => {
    expect(loadConfig(env)).toMatchObject({
      sessionIdleMs: 1_800_000,
      sessionLifetimeMs: 28_800_000,
      tokenOverlapMs: 60_000,
    })
    // One core is reserved for other requests.
    expect([1, 2]).toContain(loadConfig(env).passwordHashConcurrency)
  })

  it('reports a master key of the wrong size without showing it', () => {
    const short = Buffer.alloc(16, 9).toString('base64')
    const load = () => loadConfig({ ...env, OPSPLANE_MASTER_KEY: short })
    expect(load).toThrow(ConfigError)
    expect(load).toThrow(/OPSPLANE_MASTER_KEY must be 32 bytes in base64/)
    expect(load).not.toThrow(new RegExp(short))
  })

  it('rejects a service key as the key that signs the audit log', () => {
    const same = { ...env, AUDIT_SIGNING_KEY: env.SERVICE_PRIVATE_KEY }
    expect(() => loadConfig(same)).toThrow(/AUDIT_SIGNING_KEY must not be the service's key/)
    const former = { ...env, PREVIOUS_SERVICE_PRIVATE_KEYS: `older,${env.AUDIT_SIGNING_KEY}` }
    expect(() => loadConfig(former)).toThrow(/AUDIT_SIGNING_KEY/)
  })

  it('requires both SMTP settings or neither, and never shows the password', () => {
    const smtp = { SMTP_URL: 'smtps://ops:hunter2@mail.example.com', SMTP_FROM: 'ops@example.com' }
    expect(loadConfig({ ...env, ...smtp })).toMatchObject({ smtpFrom: 'ops@example.com' })
    expect(() => loadConfig({ ...env, SMTP_URL: smtp.SMTP_URL })).toThrow(/SMTP_FROM is missing/)
    expect(() => loadConfig({ ...env, SMTP_FROM: smtp.SMTP_FROM })).toThrow(/SMTP_URL is missing/)
    const load = () => loadConfig({ ...env, ...smtp, SMTP_URL: `${smtp.SMTP_URL}?tls=off` })
    expect(load).toThrow(/SMTP_URL must be smtp/)
    expect(load).not.toThrow(/hunter2/)
  })
})
