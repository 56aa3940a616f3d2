import { expect, test } from '@jest/globals'
import {
  changeEvents,
  changePolicyEvents,
  changeTemplateEvents,
  changeWindowEvents,
  cmdbEvents,
  dispatcherEvents,
  EventPattern,
  eventCatalog,
  itsmEvents,
  itsmSettingsEvents,
  knowledgeEvents,
  problemEvents,
  serviceCatalogEvents,
  settingsEvents,
  slaEvents,
} from './index.js'

const parts = [
  serviceCatalogEvents,
  itsmSettingsEvents,
  itsmEvents,
  changeWindowEvents,
  cmdbEvents,
  slaEvents,
  knowledgeEvents,
  problemEvents,
  changeEvents,
  changePolicyEvents,
  changeTemplateEvents,
  settingsEvents,
  dispatcherEvents,
]

test('no event type is declared twice', () => {
  const declared = parts.flatMap((part) => Object.keys(part))
  expect(declared.toSorted()).toEqual(Object.keys(eventCatalog).toSorted())
})

test.each(Object.entries(eventCatalog))(
  '%s is described, and can be subscribed to',
  (type, { description }) => {
    expect(description).toMatch(/^\S.*\.$/)
    expect(EventPattern.safeParse(type).success).toBe(true)
  },
)
