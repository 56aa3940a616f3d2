import { textOf } from '../expression/evaluate.js'
import { formatted } from '../page/format.js'
import { type Shown, usePage, useValue } from './context.js'
import { ExpressionFailure } from './failure.js'
import type { Of } from './kinds.js'

export function TextView({ component: { value, style } }: { component: Of<'text'> }) {
  const { store } = usePage()
  const shown = useValue(value, store.scope)
  if (shown.error !== undefined) return <ValueFailure error={shown.error} />
  const text = textOf(shown.value)
  if (style === 'heading') return <h2>{text}</h2>
  if (style === 'subheading') return <h3>{text}</h3>
  return <p className={style === 'muted' ? 'text muted' : 'text'}>{text}</p>
}

export function MetricView({ component: { label, value, format } }: { component: Of<'metric'> }) {
  const { store } = usePage()
  const name = useValue(label, store.scope)
  const shown = useValue(value, store.scope)
  return (
    <dl className="metric">
      <dt>{unlessFailed(name, textOf)}</dt>
      <dd>{unlessFailed(shown, (of) => formatted(of, format))}</dd>
    </dl>
  )
}

const unlessFailed = ({ value, error }: Shown, textIn: (value: unknown) => string) =>
  error === undefined ? textIn(value) : <ValueFailure error={error} />

const ValueFailure = ({ error }: { error: string }) => (
  <ExpressionFailure what="This value cannot be shown." error={error} />
)
