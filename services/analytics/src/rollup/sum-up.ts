import { type DueRow, type StatementRunner, transactionWorker } from '@opsplane/postgres'
import { datasets } from '../dataset/datasets.js'
import { dueSql } from '../fact/block-schedule.js'
import { dueMarks } from '../fact/tables.js'
import { topLevel } from '../query/blocks.js'
import { sumUpStatements } from './sum-up-statements.js'

/** A row that marks a block for aggregation. */
export interface Mark {
  key: string
  workspace_id: string
  environment: string
  dataset: string
  level: number
  block: number
}

const batch = 200

const statementsByDataset = new Map(
  datasets.map((dataset) => [
    dataset.name,
    Array.from({ length: topLevel + 1 }, (_, level) => sumUpStatements(dataset, level)),
  ]),
)

/**
 * Aggregates marked blocks. The transaction that stores the aggregates deletes the mark and marks the parent block, so
 * that no query reads a block that lacks a fact. Writers of facts lock the mark first.
 */
export const rollupWork = transactionWorker<Mark & DueRow>({
  name: 'analytics-rollups',
  of: dueMarks,
  columns: ['workspace_id', 'environment', 'dataset', 'level', 'block'],
  batch,
  perform: sumUpMarked,
})

/** The marks are locked in this transaction. */
export async function sumUpMarked(tx: StatementRunner, marks: readonly Mark[]): Promise<void> {
  await run(tx, 'delete from rollup_marks where id = any($1::text[])', [
    toArrayText(marks.map(({ key }) => key)),
  ])
  // Lower levels first, because higher ones are computed from them.
  for (const group of groupMarks(marks)) await sumUp(tx, group)
}

function groupMarks(marks: readonly Mark[]): Mark[][] {
  const groups = new Map<string, Mark[]>()
  for (const mark of [...marks].sort((a, b) => a.level - b.level || (a.key < b.key ? -1 : 1))) {
    const key = JSON.stringify([mark.level, mark.workspace_id, mark.environment, mark.dataset])
    groups.set(key, [...(groups.get(key) ?? []), mark])
  }
  return [...groups.values()]
}

async function sumUp(tx: StatementRunner, marks: readonly Mark[]): Promise<void> {
  const [first] = marks
  if (!first) return
  const { workspace_id: workspaceId, environment, dataset, level } = first
  const blocks = toArrayText(marks.map(({ block }) => String(block)))
  for (const statement of statementsByDataset.get(dataset)?.[level] ?? [])
    await run(tx, statement, [workspaceId, environment, blocks])
  if (level < topLevel) await run(tx, markAbove(level + 1), [workspaceId, environment, dataset, blocks])
}

const markAbove = (level: number) => `
  insert into rollup_marks as m (id, workspace_id, environment, dataset, level, block, due_at)
  select concat_ws('/', $1::text, $2::text, $3::text, ${level}, block), $1, $2, $3, ${level}, block, ${dueSql(level)}
    from (select distinct floor(block::integer / 4.0)::integer as block from unnest($4::text[]) as b (block) order by 1) above
  on conflict (id) do update set due_at = m.due_at`

const run = (tx: StatementRunner, text: string, parameters: string[]) =>
  tx.unsafe(text, parameters, { prepare: true })

const toArrayText = (texts: readonly string[]) => `{${texts.map((text) => JSON.stringify(text)).join(',')}}`
