import { describe, expect, it } from '@jest/globals'
import {
  type CatalogItemAction,
  CatalogItemState,
  type CatalogItemStatus,
  catalogItemActions,
  catalogItemStatuses,
  serviceCatalogEvents,
} from '@opsplane/contracts'
import { seededRandom, specify } from '@opsplane/testing'
import { catalogItem, type ItemCommand } from './item-domain.js'
import { allowedItemActions } from './item-transitions.js'
import {
  createdAt,
  createItem,
  input,
  itemAfter,
  itemCommands,
  items,
  now,
} from './sample-catalog.fixture.js'

const { given } = specify(catalogItem)

/**
 * Resulting status of each action; a missing cell means the action is
 * rejected. Written out independently of the table that the code uses.
 */
const matrix: Record<CatalogItemStatus, Partial<Record<CatalogItemAction, CatalogItemStatus | 'gone'>>> = {
  draft: { edit: 'draft', activate: 'active', delete: 'gone' },
  active: { edit: 'active', retire: 'retired' },
  retired: {},
}
const eventOf: Record<CatalogItemAction, string> = {
  edit: 'catalog_item.updated',
  activate: 'catalog_item.activated',
  retire: 'catalog_item.retired',
  delete: 'catalog_item.deleted',
}

describe.each(catalogItemStatuses)('a catalog item in status %s', (status) => {
  it.each(catalogItemActions)('handles the action %s', (action) => {
    const outcome = given(items[status]).when(itemCommands[action])
    const to = matrix[status][action]
    const allowed = allowedItemActions(status)
    if (to === undefined) {
      outcome.fails('invalid_state_transition', { from: status, action, allowed })
    } else {
      const [decision, ...others] = outcome.decisions()
      expect(others).toEqual([])
      expect(decision?.type).toBe(eventOf[action])
      expect(decision?.after?.status ?? 'gone').toBe(to)
      const [before, after] = [items[status], decision?.after ?? null]
      const event = { before, after, changes: [], version: 1 }
      expect(
        Object.entries(serviceCatalogEvents)
          .find(([type]) => type === decision?.type)?.[1]
          .data.safeParse(event).error,
      ).toBeUndefined()
    }
    expect(allowed.includes(action)).toBe(to !== undefined)
  })
})

describe('a catalog item', () => {
  it('starts as a draft of revision 1', () => {
    given(null)
      .when(createItem)
      .emits({
        type: 'catalog_item.created',
        changes: {
          id: createItem.id,
          ...input,
          status: 'draft',
          revision: 1,
          activatedAt: null,
          retiredAt: null,
          createdBy: createItem.by,
          createdAt,
          updatedAt: createdAt,
        },
      })
    given(items.draft).when(createItem).fails('conflict')
    given(null).when(itemCommands.edit).fails('not_found')
  })

  it('increments its revision only when an edit changes something', () => {
    given(items.active)
      .when(itemCommands.edit)
      .emits({ type: 'catalog_item.updated', changes: { name: 'Notebook', revision: 2, updatedAt: now } })
    given(items.active)
      .when({ kind: 'edit', now, patch: { name: input.name } })
      .emits()
    given(items.draft)
      .when(itemCommands.activate)
      .emits({
        type: 'catalog_item.activated',
        changes: { status: 'active', activatedAt: now, updatedAt: now },
      })
  })

  it('stores each revision that could be requested', () => {
    const rows = (state: CatalogItemState, type = 'catalog_item.updated') =>
      catalogItem.project?.({ type, after: state }).map(({ id }) => id)
    expect(rows(items.draft)).toEqual([])
    expect(rows(itemAfter(itemCommands.activate, itemCommands.edit))).toEqual([`${createItem.id}.2`])
    expect(rows(items.retired)).toEqual([])
  })

  const planned = (...tasks: [string, string[]?][]): ItemCommand => ({
    kind: 'edit',
    now,
    patch: {
      tasks: tasks.map(([key, dependsOn = []]) => ({
        key,
        name: key,
        assignmentGroup: null,
        assigneeId: null,
        dependsOn,
      })),
    },
  })
  const placeOf = (command: ItemCommand) => {
    try {
      catalogItem.decide(command, items.draft)
    } catch (error) {
      return (error as { details?: { path: string; code: string }[] }).details?.[0]
    }
    return undefined
  }

  it.each([
    ['a key used twice', [['a'], ['b'], ['a']], '/tasks/2/key', 'not_unique'],
    [
      'a task that is not there',
      [
        ['a', []],
        ['b', ['a', 'c']],
      ],
      '/tasks/1/dependsOn/1',
      'unknown_task',
    ],
    ['a task waiting for itself', [['a'], ['b', ['b']]], '/tasks/1/dependsOn', 'cycle'],
    ['a circle', [['x'], ['a', ['x', 'c']], ['b', ['a']], ['c', ['b']]], '/tasks/1/dependsOn', 'cycle'],
  ] as [string, [string, string[]?][], string, string][])(
    'rejects a plan with %s',
    (_what, tasks, path, code) => {
      expect(placeOf(planned(...tasks))).toMatchObject({ path, code })
    },
  )

  it('accepts a plan with its tasks in any order', () => {
    expect(placeOf(planned(['c', ['b', 'a']], ['b', ['a']], ['a']))).toBeUndefined()
  })

  it('rejects a form that cannot be enforced, and an approval rule that cannot be met', () => {
    const edit = (patch: object): ItemCommand => ({ kind: 'edit', now, patch })
    const formSchema = { type: 'object', properties: { size: { type: 'integer', minimum: 'x' } } }
    expect(placeOf(edit({ formSchema }))).toMatchObject({ path: '/formSchema/properties/size/minimum' })
    const approvals = [input.approvals[0], { name: 'All', approverIds: null, waitFor: 'all' }]
    expect(placeOf(edit({ approvals }))).toMatchObject({ path: '/approvals/1/approverIds' })
  })

  it('stays within the declared statuses under random actions', () => {
    for (let seed = 1; seed <= 100; seed += 1) {
      const next = seededRandom(seed)
      let state: CatalogItemState | null = items.draft
      let reached = items.draft.revision
      for (let step = 0; step < 12 && state !== null; step += 1) {
        const action: CatalogItemAction =
          catalogItemActions[Math.floor(next() * catalogItemActions.length)] ?? 'edit'
        const to: string | undefined = matrix[state.status][action]
        const command: ItemCommand =
          action === 'edit' ? { kind: 'edit', now, patch: { name: `Item ${step}` } } : { kind: action, now }
        if (to === undefined) {
          given(state).when(command).fails('invalid_state_transition')
          continue
        }
        state = catalogItem.decide(command, state).at(-1)?.after ?? null
        expect(state?.status ?? 'gone').toBe(to)
        if (state === null) break
        if (action === 'edit') reached += 1
        expect(state.revision).toBe(reached)
        expect(CatalogItemState.safeParse(state).error).toBeUndefined()
        expect(state.retiredAt !== null).toBe(state.status === 'retired')
        expect(state.activatedAt !== null).toBe(state.status !== 'draft')
      }
    }
  })
})
