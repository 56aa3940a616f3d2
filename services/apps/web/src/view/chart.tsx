import { useId } from 'react'
import { formatValue, readField } from '../page/format.js'
import { ChartDrawing, type Point } from './chart-drawing.js'
import { usePage } from './context.js'
import { LoadState } from './failure.js'
import type { ComponentOf } from './kinds.js'

/** Draws a source's rows, with the same data as a table for screen readers. */
export function ChartView({ component }: { component: ComponentOf<'chart'> }) {
  const { label, source, params, kind, x, y } = component
  const { store } = usePage()
  const id = useId()
  const loaded = store.loaded(source, params)
  const points = loaded.rows.map((row): Point => {
    const shown = readField(row, y)
    const size = Number(shown)
    return { name: formatValue(readField(row, x), 'text'), shown, size: Number.isFinite(size) ? size : 0 }
  })
  return (
    <section className="card" aria-labelledby={id} aria-busy={loaded.isLoading}>
      <h2 id={id}>{label}</h2>
      <LoadState loaded={loaded} onRetry={() => store.refresh([source])} />
      {points.length === 0 && !loaded.isLoading && !loaded.error && (
        <p className="muted">There is nothing to draw.</p>
      )}
      {points.length > 0 && (
        <>
          <ChartDrawing kind={kind} points={points} label={label} />
          <ChartTable points={points} names={[x, y]} />
        </>
      )}
    </section>
  )
}

function ChartTable({ points, names: [x, y] }: { points: readonly Point[]; names: [string, string] }) {
  return (
    <details>
      <summary>Show as a table</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">{x}</th>
            <th scope="col" className="number">
              {y}
            </th>
          </tr>
        </thead>
        <tbody>
          {points.map(({ name, shown }, index) => (
            <tr key={index}>
              <td>{name}</td>
              <td className="number">{formatValue(shown, 'number')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
