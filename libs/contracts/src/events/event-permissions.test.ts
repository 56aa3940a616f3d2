import { describe, expect, it } from '@jest/globals'
import { eventTypes } from './event-json-schema.js'
import { eventPermission, missingRights } from './event-permissions.js'

describe('the permission to read events', () => {
  it('is defined for every event type, and is the same for its family', () => {
    for (const type of eventTypes) {
      const family = `${type.split('.')[0]}.*`
      expect([type, eventPermission(type)]).toEqual([
        type,
        eventPermission(family === 'audit.*' ? type : family),
      ])
    }
  })

  it.each(['*', 'audit.*', 'unheard_of.*', 'constructor.name', '__proto__.x'])(
    'for %s is audit:read',
    (pattern) => {
      expect(eventPermission(pattern)).toBe('audit:read')
    },
  )

  it('is implied by audit:read, which implies no other permission', () => {
    const needs = { reads: ['itsm:read' as const], uses: ['secrets:use' as const] }
    expect(missingRights([], needs)).toEqual(['secrets:use', 'itsm:read'])
    expect(missingRights(['audit:read'], needs)).toEqual(['secrets:use'])
  })
})
