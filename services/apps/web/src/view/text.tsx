import { toText } from '../expression/evaluate.js'
import { formatValue } from '../page/format.js'
import { type Shown, usePage, useValue } from './context.js'
import { ExpressionFailure } from './failure.js'
import type { ComponentOf } from './kinds.js'

export function TextView({ component: { value, style } }: { component: ComponentOf<'text'> }) {
  const { store } = usePage()
  const shown = useValue(value, store.scope)
  if (shown.error !== undefined) return <ValueFailure error={shown.error} />
  const text = toText(shown.value)
  if (style === 'heading') return <h2>{text}</h2>
  if (style === 'subheading') return <h3>{text}</h3>
  return <p className={style === 'muted' ? 'text muted' : 'text'}>{text}</p>
}

export function MetricView({ component: { label, value, format } }: { component: ComponentOf<'metric'> }) {
  const { store } = usePage()
  const name = useValue(label, store.scope)
  const shown = useValue(value, store.scope)
  return (
    <dl className="metric">
      <dt>{renderValue(name, toText)}</dt>
      <dd>{renderValue(shown, (of) => formatValue(of, format))}</dd>
    </dl>
  )
}

const renderValue = ({ value, error }: Shown, textIn: (value: unknown) => string) =>
  error === undefined ? textIn(value) : <ValueFailure error={error} />

const ValueFailure = ({ error }: { error: string }) => (
  <ExpressionFailure what="This value cannot be shown." error={error} />
)
