import { createPublicKey } from 'node:crypto'
import { expect, it } from '@jest/globals'
import { AuditCheckpointKey } from '@opsplane/contracts'
import { generateServiceKeys } from '@opsplane/http'
import { testPrincipal } from '@opsplane/testing'
import { startSettings } from '../settings.fixture.js'

it('checkpoints are signed with the configured key, which is not the key of the service', async () => {
  const keys = generateServiceKeys()
  const settings = await startSettings({ AUDIT_SIGNING_KEY: keys.privateKey })
  try {
    const shown = await settings.service.as(testPrincipal()).get('/audit/checkpoints/key')
    const { publicKey } = shown.data(AuditCheckpointKey)
    expect(publicKey).toBe(keys.publicKey)
    const trusted = JSON.parse(settings.service.env.TRUSTED_SERVICE_KEYS ?? '{}') as Record<string, string>
    expect(Object.values(trusted).join()).not.toContain(publicKey)
    expect(
      createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
        .asymmetricKeyType,
    ).toBe('ed25519')
  } finally {
    await settings.stop()
  }
})
