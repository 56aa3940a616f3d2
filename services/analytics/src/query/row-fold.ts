import { ApiError, type JsonValue } from '@opsplane/contracts'
import type { FoldKind, RowMeasure } from './row-measure.js'

type Row = Readonly<Record<string, unknown>>

/** Takes values one by one, and says what came out. */
interface Fold {
  add(value: unknown): void
  result(): number | null
}

/** Values that are kept for distinct counts and percentiles, over all groups of an answer. */
const mostKept = 500_000

const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

function numericFold(start: number | null, join: (sum: number | null, value: number) => number): Fold {
  let result = start
  return {
    add(value) {
      const number = numberOf(value)
      if (number !== undefined) result = join(result, number)
    },
    result: () => result,
  }
}

function averageFold(): Fold {
  let [sum, count] = [0, 0]
  return {
    add(value) {
      const number = numberOf(value)
      if (number === undefined) return
      sum += number
      count++
    },
    result: () => (count === 0 ? null : sum / count),
  }
}

function percentileFold(share: number, keep: () => void): Fold {
  const values: number[] = []
  return {
    add(value) {
      const number = numberOf(value)
      if (number === undefined) return
      keep()
      values.push(number)
    },
    result() {
      const sorted = values.sort((a, b) => a - b)
      return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
    },
  }
}

function distinctFold(keep: () => void): Fold {
  const values = new Set<string>()
  return {
    add(value) {
      if (value === null || value === undefined) return
      const text = JSON.stringify(value)
      if (values.has(text)) return
      keep()
      values.add(text)
    },
    result: () => values.size,
  }
}

function foldOf(kind: FoldKind, keep: () => void): Fold {
  switch (kind) {
    case 'count':
    case 'sum':
      return numericFold(0, (sum, value) => (sum ?? 0) + value)
    case 'avg':
      return averageFold()
    case 'min':
      return numericFold(null, (least, value) => Math.min(least ?? value, value))
    case 'max':
      return numericFold(null, (most, value) => Math.max(most ?? value, value))
    case 'distinct':
      return distinctFold(keep)
    default:
      return percentileFold(Number(kind.slice(1)) / 100, keep)
  }
}

/** Adds rows up by group as they come; no row is kept. */
export function createRowFold(measures: readonly RowMeasure[], mostGroups: number) {
  const groups = new Map<string, { shown: Record<string, JsonValue>; folds: Fold[] }>()
  let kept = 0
  const keep = () => {
    if (++kept > mostKept) throw tooMuch('too many different values')
  }
  return {
    add(shown: Record<string, JsonValue>, row: Row) {
      const key = JSON.stringify(shown)
      let group = groups.get(key)
      if (!group) {
        if (groups.size >= mostGroups) throw tooMuch('too many groups')
        group = { shown, folds: measures.map(({ kind }) => foldOf(kind, keep)) }
        groups.set(key, group)
      }
      for (const [index, { kind, column }] of measures.entries())
        group.folds[index]?.add(kind === 'count' ? 1 : row[column ?? ''])
    },
    rows: (): Record<string, JsonValue>[] =>
      [...groups.values()].map(({ shown, folds }) => ({
        ...shown,
        ...Object.fromEntries(measures.map(({ name }, index) => [name, folds[index]?.result() ?? null])),
      })),
  }
}

const tooMuch = (what: string) =>
  new ApiError('validation_failed', `The query has ${what}: ask for fewer dimensions or filter the rows.`)
