import { useId } from 'react'
import { ComponentView } from './component.js'
import type { Of } from './kinds.js'

export function ContainerView({ component }: { component: Of<'container'> }) {
  const { label, direction, children } = component
  const id = useId()
  const inner = children.map((child, index) => <ComponentView key={index} component={child} />)
  if (label === undefined) return <div className={`stack ${direction}`}>{inner}</div>
  return (
    <section className="card" aria-labelledby={id}>
      <h2 id={id}>{label}</h2>
      <div className={`stack ${direction}`}>{inner}</div>
    </section>
  )
}
