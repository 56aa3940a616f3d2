import type { AppAction } from '@opsplane/contracts'
import { useId } from 'react'
import type { Loaded, Row } from '../page/data-cache.js'
import { type Format, formatValue, readField } from '../page/format.js'
import { useAction, usePage } from './context.js'
import { ActionFailure, LoadState } from './failure.js'
import type { ComponentOf } from './kinds.js'

/** Rows of a source. A wide table scrolls by itself, with the keyboard as well. */
export function TableView({ component }: { component: ComponentOf<'table'> }) {
  const { label, source, params, columns, onRow, empty = 'There is nothing here yet.' } = component
  const { store } = usePage()
  const id = useId()
  const { run, error } = useAction(onRow as AppAction | undefined)
  const loaded = store.loaded(source, params)
  const onChoose = onRow && ((row: Row) => void run({ row }))
  const hasNone = loaded.rows.length === 0 && !loaded.isLoading && !loaded.error
  return (
    <section className="card" aria-labelledby={id} aria-busy={loaded.isLoading}>
      <h2 id={id}>{label}</h2>
      <LoadState loaded={loaded} onRetry={() => store.refresh([source])} />
      <ActionFailure error={error} />
      {hasNone && <p className="muted">{empty}</p>}
      {loaded.rows.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable with the keyboard
        <section className="scroll" aria-label={`${label}: rows`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {columns.map(({ field, label: name = field, format }) => (
                  <th key={field} scope="col" className={alignment(format)}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {loaded.rows.map((row, index) => (
                <TableRow key={String(row.id ?? index)} row={row} columns={columns} onChoose={onChoose} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      <More loaded={loaded} onMore={() => store.more(source, params)} />
    </section>
  )
}

interface TableRowProps {
  row: Row
  columns: ComponentOf<'table'>['columns']
  onChoose: ((row: Row) => void) | undefined
}

/** If rows can be chosen, the first cell contains the button that receives the keyboard focus. */
function TableRow({ row, columns, onChoose }: TableRowProps) {
  return (
    <tr className={onChoose && 'chosen'} onClick={() => onChoose?.(row)}>
      {columns.map(({ field, format }, index) => {
        const cell = <Cell text={formatValue(readField(row, field), format)} format={format} />
        return (
          <td key={field} className={alignment(format)}>
            {index === 0 && onChoose ? (
              <button type="button" className="plain">
                {cell}
              </button>
            ) : (
              cell
            )}
          </td>
        )
      })}
    </tr>
  )
}

export const Cell = ({ text, format }: { text: string; format: Format }) => (
  <span className={format === 'badge' ? 'badge' : undefined}>{text}</span>
)

const numeric: readonly Format[] = ['number', 'percent', 'duration']
const alignment = (format: Format) => {
  if (numeric.includes(format)) return 'number'
  return format === 'date' || format === 'datetime' ? 'time' : ''
}

function More({ loaded, onMore }: { loaded: Loaded; onMore: () => void }) {
  if (!loaded.nextCursor) return null
  return (
    <button type="button" className="secondary" aria-disabled={loaded.isLoading} onClick={onMore}>
      {loaded.isLoading ? 'Loading…' : 'Show more'}
    </button>
  )
}
