import { idPrefixes } from '@opsplane/contracts'
import type { TouchedRecord } from '../../execution/model.js'

const kinds = new Map<string, string>(Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind]))
const idForm = /^([a-z]{2,4})_[0-9A-HJKMNP-TV-Z]{26}$/
const maxOfOneAnswer = 200

/** Parses a platform id into the record it names, with its kind, such as `incident`. */
export function parseRecordId(id: unknown): TouchedRecord | undefined {
  const kind = typeof id === 'string' ? kinds.get(idForm.exec(id)?.[1] ?? '') : undefined
  return kind === undefined ? undefined : { id: id as string, table: snakeCased(kind) }
}

/** The records named in the parameters or the response of an operation. */
export function findTouchedRecords(params: Record<string, unknown>, data: unknown): TouchedRecord[] {
  const items = Array.isArray(data) ? data.slice(0, maxOfOneAnswer) : [data]
  const ids = [
    ...Object.values(params),
    ...items.map((item) => (typeof item === 'object' && item !== null && 'id' in item ? item.id : null)),
  ]
  return ids.flatMap((id) => parseRecordId(id) ?? [])
}

const snakeCased = (kind: string) => kind.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
