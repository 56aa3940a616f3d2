import { expect, it } from '@jest/globals'
import {
  type CatalogItemState,
  CatalogRequestPatch,
  CatalogRequestState,
  CatalogTaskPatch,
  NewCatalogItem,
} from '@opsplane/contracts'
import { createItem, item, now, requests } from './sample-catalog.fixture.js'

/** NATS's default maximum message size, minus the envelope of an event. */
const largestMessage = 1_048_576 - 16_384

const wide = (length: number) => '€'.repeat(length)
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i))
const persons = times(20, (index) => `${index}`.padEnd(100, '€'))
const key = (index: number) => `t${index}`.padEnd(40, 'x')

const input = NewCatalogItem.parse({
  name: wide(200),
  description: wide(10_000),
  category: wide(100),
  tags: times(50, (index) => `${index}`.padEnd(50, '€')),
  formSchema: { type: 'object', properties: {}, description: 'x'.repeat(32_000) },
  approvals: times(5, () => ({ name: wide(100), approverIds: persons, waitFor: 'all' })),
  tasks: times(50, (index) => ({
    key: key(index),
    name: wide(200),
    assignmentGroup: wide(100),
    assigneeId: wide(100),
    dependsOn: times(Math.min(20, index), key),
  })),
})

const dataSize = (state: object) => Buffer.byteLength(JSON.stringify({ before: state, after: state }))

it('the largest catalog item fits in a message', () => {
  const largest: CatalogItemState = { ...item, ...input, createdBy: createItem.by }
  expect(dataSize(largest)).toBeLessThan(largestMessage)
})

it('the largest catalog request fits in a message', () => {
  const { formData, notes } = CatalogRequestPatch.parse({
    formData: { text: wide(10_900) },
    notes: wide(5_000),
  })
  const { notes: taskNotes } = CatalogTaskPatch.parse({ notes: wide(500) })
  const by = { id: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: wide(100), type: 'user' as const }
  const { contentHash, id } = requests.awaiting_approval.approvals[0] ?? { contentHash: '', id: '' }
  const decision = {
    by,
    userId: by.id,
    decision: 'approved' as const,
    comment: wide(500),
    contentHash,
    at: now,
  }
  const largest = CatalogRequestState.parse({
    ...requests.closed_complete,
    itemName: input.name,
    formData,
    notes,
    reason: wide(2_000),
    approvals: input.approvals.map((rule) => ({
      id,
      ...rule,
      excludedIds: persons.slice(0, 2),
      required: 20,
      contentHash,
      status: 'approved',
      decisions: times(20, () => decision),
      requestedAt: now,
      endedAt: now,
    })),
    tasks: input.tasks.map((task) => ({
      id: requests.fulfilling.tasks[0]?.id,
      ...task,
      status: 'complete',
      notes: taskNotes,
      startedAt: now,
      endedAt: now,
    })),
  })
  expect(dataSize(largest)).toBeLessThan(largestMessage)
})
