import { formatted } from '../page/format.js'
import { usePage, useText, useValue } from './context.js'
import { Failure } from './failure.js'
import type { Of } from './kinds.js'

export function TextView({ component: { value, style } }: { component: Of<'text'> }) {
  const { store } = usePage()
  const text = useText(value, store.scope)
  if (style === 'heading') return <h2>{text}</h2>
  if (style === 'subheading') return <h3>{text}</h3>
  return <p className={style === 'muted' ? 'text muted' : 'text'}>{text}</p>
}

export function MetricView({ component: { label, value, format } }: { component: Of<'metric'> }) {
  const { store } = usePage()
  const name = useText(label, store.scope)
  const shown = useValue(value, store.scope)
  return (
    <dl className="metric">
      <dt>{name}</dt>
      <dd>
        {shown.error === undefined ? formatted(shown.value, format) : <Failure message={shown.error} />}
      </dd>
    </dl>
  )
}
