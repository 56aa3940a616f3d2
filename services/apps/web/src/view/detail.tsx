import { useId } from 'react'
import { formatValue, readField } from '../page/format.js'
import { usePage } from './context.js'
import { LoadState } from './failure.js'
import type { ComponentOf } from './kinds.js'
import { Cell } from './table.js'

/** Shows the fields of a source's single record. */
export function DetailView({ component }: { component: ComponentOf<'detail'> }) {
  const { label, source, params, fields } = component
  const { store } = usePage()
  const id = useId()
  const loaded = store.loaded(source, params)
  const record = loaded.rows[0] ?? asRecord(loaded.value)
  return (
    <section className="card" aria-labelledby={id} aria-busy={loaded.isLoading}>
      <h2 id={id}>{label}</h2>
      <LoadState loaded={loaded} onRetry={() => store.refresh([source])} />
      {!record && !loaded.isLoading && !loaded.error && <p className="muted">There is nothing to show.</p>}
      {record && (
        <dl className="detail">
          {fields.map(({ field, label: name = field, format }) => (
            <div key={field}>
              <dt>{name}</dt>
              <dd>
                <Cell text={formatValue(readField(record, field), format)} format={format} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
