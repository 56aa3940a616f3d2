import { ApiError, type JsonValue, type Quantity } from '@opsplane/contracts'
import {
  compareQuantities,
  type Decimal,
  divide,
  parseDecimal,
  toQuantity,
  zero,
} from '../decimal/decimal.js'
import type { FoldKind, RowMeasure } from './row-measure.js'

type Row = Readonly<Record<string, unknown>>

/** Accumulates values and returns the result. */
interface Fold {
  add(value: unknown): void
  result(): Quantity | null | undefined
}

/** Maximum number of values kept for distinct counts and percentiles, over all groups of an answer. */
const maxKeptValues = 500_000

function countFold(): Fold {
  let count = 0
  return {
    add: () => void count++,
    result: () => count,
  }
}

/** Accumulates decimals and ignores all other values. */
function decimalFold(addDecimal: (value: Decimal) => void, result: Fold['result']): Fold {
  return {
    add(value) {
      const decimal = parseDecimal(value)
      if (decimal) addDecimal(decimal)
    },
    result,
  }
}

function sumFold(): Fold {
  let sum = zero
  return decimalFold(
    (value) => {
      sum = sum.plus(value)
    },
    () => toQuantity(sum),
  )
}

function averageFold(): Fold {
  let [sum, count] = [zero, 0]
  return decimalFold(
    (value) => {
      sum = sum.plus(value)
      count++
    },
    () => divide(sum, zero.plus(count)),
  )
}

/** Returns the first value in the given order. */
function firstFold(precedes: (value: Decimal, other: Decimal) => boolean): Fold {
  let first: Decimal | undefined
  return decimalFold(
    (value) => {
      if (!first || precedes(value, first)) first = value
    },
    () => first && toQuantity(first),
  )
}

function percentileFold(share: number, keep: () => void): Fold {
  const values: Quantity[] = []
  return decimalFold(
    (value) => {
      keep()
      values.push(toQuantity(value))
    },
    () => values.sort(compareQuantities)[Math.max(0, Math.ceil(share * values.length) - 1)],
  )
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

function createFold(kind: FoldKind, keep: () => void): Fold {
  switch (kind) {
    case 'count':
      return countFold()
    case 'sum':
      return sumFold()
    case 'avg':
      return averageFold()
    case 'min':
      return firstFold((value, least) => value.lt(least))
    case 'max':
      return firstFold((value, max) => value.gt(max))
    case 'distinct':
      return distinctFold(keep)
    default:
      return percentileFold(Number(kind.slice(1)) / 100, keep)
  }
}

/** Aggregates rows by group as they arrive, without keeping them. */
export function createRowFold(
  measures: readonly RowMeasure[],
  { maxGroups, isDecimal = () => false }: { maxGroups: number; isDecimal?: (column: string) => boolean },
) {
  const groups = new Map<string, { shown: Record<string, JsonValue>; folds: Fold[] }>()
  let kept = 0
  const keep = () => {
    if (++kept > maxKeptValues) throw tooMuch('too many different values')
  }
  /** Decimals are equal regardless of trailing zeros. */
  const compared = (column: string, value: unknown) =>
    isDecimal(column) ? (parseDecimal(value)?.toFixed() ?? value) : value
  return {
    add(shown: Record<string, JsonValue>, row: Row) {
      const key = JSON.stringify(Object.entries(shown).map(([name, value]) => compared(name, value)))
      let group = groups.get(key)
      if (!group) {
        if (groups.size >= maxGroups) throw tooMuch('too many groups')
        group = { shown, folds: measures.map(({ kind }) => createFold(kind, keep)) }
        groups.set(key, group)
      }
      for (const [index, { kind, column = '' }] of measures.entries())
        group.folds[index]?.add(kind === 'distinct' ? compared(column, row[column]) : row[column])
    },
    rows: (): Record<string, JsonValue>[] =>
      [...groups.values()].map(({ shown, folds }) => ({
        ...shown,
        ...Object.fromEntries(measures.map(({ name }, index) => [name, folds[index]?.result() ?? null])),
      })),
  }
}

const tooMuch = (problem: string) =>
  new ApiError('validation_failed', `The query has ${problem}: ask for fewer dimensions or filter the rows.`)
