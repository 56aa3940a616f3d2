import { EventEmitter, once } from 'node:events'
import { expect, it } from '@jest/globals'
import type { CommandMeta, ItsmSettingsState, TenantScope } from '@opsplane/contracts'
import type { EventStore } from '@opsplane/eventstore'
import { defaultSettings } from './domain.js'
import { settingsStore } from './settings-store.js'

const tenant: TenantScope = { workspaceId: 'ws_1', environment: 'production' }
const lasting = (autoCloseDays: number): ItsmSettingsState => ({ ...defaultSettings('its_1'), autoCloseDays })
const storeOf = (find: () => Promise<object>, transact = async () => undefined) =>
  settingsStore({ store: { aggregate: () => ({ find }), transact } as unknown as EventStore })

it('does not cache settings that were read before a change', async () => {
  let state = lasting(7)
  const reads = new EventEmitter()
  const find = async () => {
    const row = { state, version: 1 }
    if (state.autoCloseDays === 7) await once(reads, 'answered')
    return row
  }
  const settings = storeOf(find, async () => {
    state = lasting(3)
  })
  const early = settings.current(tenant)
  await settings.patch({ autoCloseDays: 3 }, { tenant } as CommandMeta)
  reads.emit('answered')
  expect((await early).autoCloseDays).toBe(7)
  expect((await settings.current(tenant)).autoCloseDays).toBe(3)
})

it('reads settings again after a failed read', async () => {
  let failing = true
  const settings = storeOf(async () => {
    if (failing) throw new Error('away')
    return { state: lasting(3), version: 1 }
  })
  await expect(settings.current(tenant)).rejects.toThrow('away')
  failing = false
  expect((await settings.current(tenant)).autoCloseDays).toBe(3)
})
