import { describe, expect, it } from '@jest/globals'
import { ConnectorState } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { connector, type StoredConnector } from './domain.js'

const createdAt = '2026-03-01T10:00:00.000Z'
const now = '2026-03-02T10:00:00.000Z'
const id = 'con_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
const plain = { baseUrl: 'https://api.example.com' }
const secret = { ...plain, auth: { type: 'bearer', token: '{{secrets.token}}' } }
const fields = {
  name: 'billing',
  kind: 'http',
  description: '',
  config: plain,
  enabled: true,
  retry: { attempts: 3, delayMs: 500, maxDelayMs: 10_000 },
  timeoutMs: 10_000,
}
const ada = { userId: 'usr_ada', permissions: ['connectors:write', 'secrets:use'] }
const eve = { userId: 'usr_eve', permissions: ['connectors:write'] }
const fresh: StoredConnector = {
  ...{ id, ...fields, ownerId: 'usr_ada', status: 'unknown', statusChangedAt: null, lastError: null },
  ...{ createdAt, updatedAt: createdAt, epoch: 0 },
}
const up: StoredConnector = { ...fresh, status: 'up', statusChangedAt: createdAt }
const withSecret: StoredConnector = { ...up, config: secret }
const report = (status: 'up' | 'down', error: string | null = null, epoch = 0) =>
  ({ kind: 'report', epoch, status, error, now }) as const
const update = (patch: object, caller = ada) => ({ kind: 'update', patch, caller, now }) as const
const { given } = specify(connector)

describe('a connector', () => {
  it('can be created once, and is owned by its creator', () => {
    const create = { kind: 'create', id, fields, caller: ada, now: createdAt } as const
    given(null).when(create).emits({ type: 'connector.created', changes: fresh })
    given(fresh).when(create).fails('conflict')
    expect(ConnectorState.strict().parse(connector.expose(fresh))).not.toHaveProperty('epoch')
  })

  it('can be updated and deleted, and emits no event when nothing changes', () => {
    given(up)
      .when(update({ name: 'invoices' }, eve))
      .emits({ type: 'connector.updated', changes: { name: 'invoices', updatedAt: now } })
    given(up)
      .when(update({ name: 'billing' }))
      .emits()
    given(up).when({ kind: 'delete' }).emits({ type: 'connector.deleted', changes: null })
    given(null).when(update({})).fails('not_found')
    given(null).when({ kind: 'delete' }).fails('not_found')
  })

  it('requires secrets:use for every configuration with secrets, also when it is enabled again', () => {
    const create = { kind: 'create', id, fields: { ...fields, config: secret }, now } as const
    given(null)
      .when({ ...create, caller: eve })
      .fails('forbidden', { missing: ['secrets:use'] })
    given(withSecret)
      .when(update({ config: { ...secret, baseUrl: 'https://evil.example.com' } }, eve))
      .fails('forbidden')
    given({ ...withSecret, enabled: false })
      .when(update({ enabled: true }, eve))
      .fails('forbidden')
    given(withSecret)
      .when(update({ config: plain }, eve))
      .emits({
        type: 'connector.updated',
        changes: {
          ...{ config: plain, ownerId: 'usr_eve', status: 'unknown', lastError: null },
          ...{ epoch: 1, statusChangedAt: now, updatedAt: now },
        },
      })
  })
})

describe('the status of a connector', () => {
  it('emits one event per change, whichever call reports it', () => {
    given(fresh)
      .when(report('up'))
      .emits({
        type: 'connector.status_changed',
        changes: { status: 'up', statusChangedAt: now, updatedAt: now },
        extras: { previousStatus: 'unknown' },
      })
    given(up).when(report('up')).emits()
    given(up)
      .when(report('down', 'No answer.'))
      .emits({
        type: 'connector.status_changed',
        changes: { status: 'down', lastError: 'No answer.', statusChangedAt: now, updatedAt: now },
        extras: { previousStatus: 'up' },
      })
    given({ ...up, status: 'down' })
      .when(report('down', 'Again.'))
      .emits()
  })

  it('ignores reports about an earlier configuration, a disabled connector and a deleted one', () => {
    given({ ...up, epoch: 1 })
      .when(report('down', 'Late.'))
      .emits()
    given({ ...up, enabled: false })
      .when(report('down', 'Late.'))
      .emits()
    given(null).when(report('down', 'Late.')).emits()
  })

  it('is unknown after the connector is enabled again', () => {
    given({ ...up, status: 'down', enabled: false, lastError: 'Away.' })
      .when(update({ enabled: true }))
      .emits({
        type: 'connector.updated',
        changes: {
          ...{ enabled: true, status: 'unknown', lastError: null, epoch: 1 },
          ...{ statusChangedAt: now, updatedAt: now },
        },
      })
  })
})
