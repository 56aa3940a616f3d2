import {
  type Actor,
  type ChangeWindowPatch,
  type ChangeWindowState,
  changedFields,
  type Decider,
  type Instant,
  invalidField,
  type NewChangeWindow,
  notFound,
  type WindowSpan,
} from '@opsplane/contracts'
import { findZone, instantIn } from '../calendar/zone.js'
import { computeBounds } from './occurrences.js'

export type WindowCommand =
  | { kind: 'create'; id: string; by: Actor; input: NewChangeWindow; now: Instant }
  | { kind: 'patch'; patch: ChangeWindowPatch; now: Instant }
  | { kind: 'delete' }

export const changeWindow: Decider<ChangeWindowState, WindowCommand> = {
  resourceType: 'change_window',
  table: 'change_windows',
  decide: (command, state) => {
    if (command.kind === 'create') {
      const { id, by, input, now } = command
      const after = {
        id,
        ...input,
        span: toInstants(input.span),
        createdBy: by,
        createdAt: now,
        updatedAt: now,
      }
      return [{ type: 'change_window.created', after: withBounds(after) }]
    }
    if (state === null) throw notFound()
    if (command.kind === 'delete') return [{ type: 'change_window.deleted', after: null }]
    const wanted = { ...state, ...resolvePatch(command.patch) }
    if (changedFields(state, wanted).length === 0) return []
    return [{ type: 'change_window.updated', after: withBounds({ ...wanted, updatedAt: command.now }) }]
  },
  expose: (state) => state,
  describe: ({ name }) => ({ displayName: name }),
}

/** Setting a span clears the recurrence and the other way round, unless the patch sets both. */
function resolvePatch({ span: asked, ...patch }: ChangeWindowPatch): Partial<ChangeWindowState> {
  const span = asked && toInstants(asked)
  const { recurrence } = patch
  const fields = Object.fromEntries(
    Object.entries({ ...patch, span }).filter(([, value]) => value !== undefined),
  )
  return {
    ...(span && recurrence === undefined && { recurrence: null }),
    ...(recurrence && span === undefined && { span: null }),
    ...fields,
  }
}

const toInstants = (span: WindowSpan | null) =>
  span && { from: instantIn(span.timeZone, span.from), to: instantIn(span.timeZone, span.to) }

/**
 * Throws validation_failed for an invalid window: both a span and a
 * recurrence or neither, an unknown zone, or a window that is never on.
 */
function withBounds(window: Omit<ChangeWindowState, 'startsAt' | 'endsAt'>): ChangeWindowState {
  const { span, recurrence } = window
  if ((span === null) === (recurrence === null))
    throw invalidField('/span', 'one_of', 'A window has either a span or a recurrence.')
  if (span && span.to <= span.from)
    throw invalidField('/span/to', 'empty_span', 'The span must end after it begins.')
  if (recurrence) checkZone(recurrence.timeZone)
  const bounds = computeBounds(window)
  if (!bounds)
    throw invalidField(
      '/recurrence/validUntil',
      'never_on',
      'The window would never be on between these dates.',
    )
  return { ...window, ...bounds }
}

function checkZone(name: string): void {
  try {
    findZone(name)
  } catch {
    throw invalidField('/recurrence/timeZone', 'unknown_zone', 'There is no time zone of this name.')
  }
}
