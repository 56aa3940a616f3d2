import { describe, expect, it } from '@jest/globals'
import {
  durableConsumers,
  type EventType,
  eventExample,
  newId,
  PlatformEvent,
  parseEventFamily,
} from '@opsplane/contracts'
import { pausedEvent } from './notification.fixture.js'
import { notificationText, notifiedTypes } from './text.js'

const workspaceId = 'ws_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'

const withUrl = (event: PlatformEvent, url: string): PlatformEvent => ({
  ...event,
  data: { ...event.data, after: { ...event.data.after, url } },
})

describe('the text of a notification', () => {
  it('covers pauses by the platform, not pauses by a user', () => {
    expect(notifiedTypes).toEqual([
      ...['deploy.suspended', 'webhook.paused', 'workflow.deactivated', 'pack.suspended', 'kpi.suspended'],
      'scheduled_job.updated',
      ...['workflow.approval_requested', 'workflow.approval_reminded'],
    ])
    expect(notificationText(pausedEvent(workspaceId, { reason: 'user' }))).toBeNull()
    expect(notificationText({ ...pausedEvent(workspaceId), type: 'webhook.resumed' })).toBeNull()
  })

  it('covers only events for which settings may have a durable consumer', () => {
    const durables = notifiedTypes.map((type) => `settings-${parseEventFamily(type)}-notifications`)
    expect(durableConsumers.settings).toEqual(expect.arrayContaining(durables))
  })

  it('of a held app lists the rights that its giver lacks, and the call to take it over', () => {
    const example = eventExample('deploy.suspended')
    const appId = newId('app')
    const after = { ...example.data.after, appId }
    const event = {
      ...{ ...example, workspaceId, environment: 'staging' as const },
      resource: { ...example.resource, displayName: 'Assets' },
      data: { ...example.data, after, missing: ['records:read', 'records:write'] },
    }
    const text = notificationText(event)
    expect(text).toMatchObject({ severity: 'critical', title: expect.stringContaining('app "Assets"') })
    expect(text).not.toHaveProperty('audience')
    expect(text?.message).toContain('in staging')
    expect(text?.message).toContain('lacks records:read, records:write')
    expect(text?.message).toContain(`POST /api/v1/apps/${appId}/take-over`)
  })

  it('of a paused webhook states the number of failures and how to resume it', () => {
    const event = pausedEvent(workspaceId, { environment: 'staging' })
    const path = `/api/v1/webhooks/${event.resource.id}`
    const text = notificationText(event)
    expect(text).toMatchObject({
      severity: 'critical',
      title: 'Webhook "Orders" was paused after 5 failed deliveries in a row',
    })
    expect(text?.message).toMatch(/in staging, because 5 deliveries in a row failed on every attempt/)
    expect(text?.message).toContain(`PATCH ${path} with {"status":"active"}`)
    expect(text?.message).toContain('kept as held deliveries')
    expect(text?.message).toContain(`GET ${path}/deliveries?status=failed`)
  })

  it.each<[EventType, Record<string, unknown>, string]>([
    [
      'workflow.deactivated',
      { reason: 'owner_rights', missing: ['itsm:read', 'secrets:use'] },
      'POST /api/v1/workflows/',
    ],
    ['pack.suspended', {}, 'POST /api/v1/sdk/packs/'],
    ['kpi.suspended', {}, 'POST /api/v1/analytics/kpis/'],
    ['scheduled_job.updated', { changes: ['suspendedFor'] }, 'POST /api/v1/sdk/scheduled-jobs/'],
  ])('of %s lists the rights that the owner lacks, and the call to take it over', (type, data, call) => {
    const example = PlatformEvent.parse(eventExample(type))
    const after = { ...example.data.after, suspendedFor: ['itsm:read', 'secrets:use'] }
    const event = { ...example, workspaceId, data: { ...example.data, after, ...data } }
    const text = notificationText(event)
    expect(text).toMatchObject({ severity: 'critical', title: expect.stringContaining('was suspended') })
    expect(text?.message).toContain('lacks itsm:read, secrets:use')
    expect(text?.message).toContain(`${call}${event.resource.id}`)
  })

  it('is null for a workflow that a user deactivated', () => {
    const example = PlatformEvent.parse(eventExample('workflow.deactivated'))
    const event = { ...example, workspaceId, data: { ...example.data, reason: 'user' } }
    expect(notificationText(event)).toBeNull()
  })

  it('of a webhook whose endpoint is gone explains that it can be corrected or deleted', () => {
    const event = pausedEvent(workspaceId, { reason: 'gone' })
    const text = notificationText(event)
    expect(text).toMatchObject({
      severity: 'warning',
      title: expect.stringContaining('its endpoint is gone'),
    })
    expect(text?.message).toContain('410 Gone')
    expect(text?.message).toContain(`DELETE /api/v1/webhooks/${event.resource.id}`)
  })

  it('contains the host of the endpoint, and no part of the URL that may be secret', () => {
    const event = withUrl(pausedEvent(workspaceId), 'https://ada:pw@hooks.example.com/in/T0ken?key=k3y')
    const text = JSON.stringify(notificationText(event))
    expect(text).toContain('to hooks.example.com in')
    expect(text).not.toMatch(/pw|T0ken|k3y/)
  })

  it('keeps a name on one line', () => {
    const text = notificationText(pausedEvent(workspaceId, { name: 'Orders\r\nBcc: eve@example.com\u202e' }))
    expect(text?.title).toContain('"Orders Bcc: eve@example.com"')
    expect(text?.message).not.toMatch(/[\r\n\u202e]/)
  })

  it('is refused with an error for an event that violates its schema', () => {
    const event = pausedEvent(workspaceId)
    expect(() => notificationText({ ...event, data: { ...event.data, reason: 'tired' } })).toThrow(/reason/)
  })
})
