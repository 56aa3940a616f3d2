import { expect, test } from '@jest/globals'
import { generateServiceKeys } from '@opsplane/http'
import { settings } from '@opsplane/settings'
import { startTestService } from '@opsplane/testing'
import { newMasterKey } from '../secrets.js'
import { recordBackup } from './last-backup.js'

test('the settings service exposes the time of the last complete backup, or 0 if there is none', async () => {
  const env = { OPSPLANE_MASTER_KEY: newMasterKey(), AUDIT_SIGNING_KEY: generateServiceKeys().privateKey }
  const service = await startTestService(settings, { env: { ...env, METRICS_PORT: '0' } })
  /** Asks a separate replica, which has nothing cached. */
  const shown = async () => {
    const replica = await service.replica()
    try {
      const text = await (await fetch(replica.metricsUrl ?? '')).text()
      return Number(/^opsplane_backup_last_success_timestamp_seconds\{.*\} (.*)$/m.exec(text)?.[1])
    } finally {
      await replica.stop()
    }
  }
  try {
    expect(await shown()).toBe(0)
    for (const at of ['2026-11-28T04:30:00.500Z', '2026-11-29T04:30:00.000Z']) {
      await recordBackup(service.adminUrl, new Date(at))
      expect(await shown()).toBe(Date.parse(at) / 1_000)
    }
  } finally {
    await service.stop()
  }
})
