import { test } from '@jest/globals'
import { DeliveryRows } from './delivery-rows.fixture.js'
import { deliveryStoreCases, type Subject } from './delivery-store-cases.fixture.js'
import { deliveryStoreInMemory } from './delivery-store-in-memory.fixture.js'
import { tenant } from './webhooks.fixture.js'

const caller = { userId: 'usr_1', permissions: ['audit:read'] }

function inMemory(): Subject {
  let nowMs = Date.parse('2026-01-01T00:00:00.000Z')
  const rows = new DeliveryRows(() => nowMs)
  const now = '2026-01-01T00:00:00.000Z'
  return {
    store: (owner) => deliveryStoreInMemory(rows, owner, async (act) => act()),
    addWebhook: async (state) => rows.add(tenant, state),
    setStatus: async (id, status) =>
      void rows.handle(id, { kind: 'update', now, caller, settings: { status } }),
    deleteWebhook: async (id) => void rows.handle(id, { kind: 'delete' }),
    async pass(ms) {
      nowMs += ms
    },
    nowMs: async () => nowMs,
    async delivery(id) {
      const row = rows.deliveries.get(id)
      if (!row) throw new Error(`there is no delivery ${id}`)
      return { status: row.status, attempts: row.attempts, leased: row.leaseOwner !== null }
    },
  }
}

test.each(Object.entries(deliveryStoreCases))('the delivery store in memory: %s', (_, check) =>
  check(inMemory()),
)
