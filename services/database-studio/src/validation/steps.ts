import type { CommandMeta } from '@opsplane/contracts'
import { pathBelow } from '../row/problems.js'
import type { RecordAccess } from '../row/record-access.js'
import type { ResolvedTable, Row } from '../row/resolved-table.js'
import type { Step } from '../row/step.js'
import { applyValues, findRecords } from './record-images.js'
import type { Change, Image, RecordValidator } from './record-validator.js'

interface Validation {
  access: Pick<RecordAccess, 'read'>
  validating: RecordValidator
}

/**
 * Validates the operations of a batch, each against the result of the previous ones, and
 * stores the validated versions in the steps.
 */
export async function validateSteps(
  { access, validating }: Validation,
  steps: readonly Step[],
  meta: CommandMeta,
): Promise<void> {
  const concerned = steps.filter(({ opened }) => validating.concerns(opened, ['create', 'update', 'delete']))
  if (concerned.length === 0) return
  const present = await recordsOf(access, concerned)
  await validating.check(
    concerned.flatMap((step) => changeOf(step, present) ?? []),
    meta,
  )
}

/** Current records by table and id; updated with the changes of the batch. */
type Present = Map<string, { image: Image; version: number | null }>

const keyOf = ({ opened, id }: Pick<Step, 'opened' | 'id'>) => `${opened.table.slug}/${id}`

async function recordsOf(access: Validation['access'], steps: readonly Step[]): Promise<Present> {
  const idsByTable = new Map<ResolvedTable, Set<string>>()
  for (const { opened, operation, id } of steps) {
    if (operation.op === 'create') continue
    const ids = idsByTable.get(opened) ?? new Set()
    idsByTable.set(opened, ids.add(id))
  }
  const present: Present = new Map()
  for (const [opened, ids] of idsByTable)
    for (const [id, row] of await findRecords(access, opened, [...ids]))
      present.set(keyOf({ opened, id }), toPresentRecord(row))
  return present
}

const toPresentRecord = (row: Row) => ({ image: row, version: row.version })

/** Returns `undefined` if the operation changes nothing, or will fail because its record does not exist. */
function changeOf(step: Step, present: Present): Change | undefined {
  const { operation, opened, id, values, place } = step
  const key = keyOf(step)
  const data = pathBelow(place, 'data')
  if (operation.op === 'create') {
    const after = { ...values, id }
    present.set(key, { image: after, version: null })
    return { opened, operation: 'create', before: null, after, place: data }
  }
  const found = present.get(key)
  const isEmpty = operation.op === 'update' && Object.keys(values).length === 0
  if (!found || isEmpty) return undefined
  const { image: before, version } = found
  step.validated = version ?? undefined
  if (operation.op === 'delete') {
    present.delete(key)
    return { opened, operation: 'delete', before, after: null, place }
  }
  const after = applyValues(opened.table, before, values)
  present.set(key, { image: after, version: null })
  return { opened, operation: 'update', before, after, place: data }
}
