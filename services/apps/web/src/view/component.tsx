import { Tab, TabList, TabPanel, TabProvider } from '@ariakit/react'
import type { Component } from '@opsplane/contracts'
import { useId } from 'react'
import { isShown } from '../page/resolve-request.js'
import { ButtonView } from './button.js'
import { ChartView } from './chart.js'
import { usePage, useValue } from './context.js'
import { DetailView } from './detail.js'
import { NotShown } from './failure.js'
import { FormView } from './form.js'
import { FreeInput } from './input.js'
import type { ComponentOf } from './kinds.js'
import { TableView } from './table.js'
import { MetricView, TextView } from './text.js'

/** A component of a page, if it is visible. */
export function ComponentView({ component }: { component: Component }) {
  const { store } = usePage()
  const visible = useValue(component.visible ?? true, store.scope)
  if (visible.error !== undefined) return <NotShown error={visible.error} />
  if (!isShown(visible.value)) return null
  return <Drawn component={component} />
}

function Drawn({ component }: { component: Component }) {
  switch (component.type) {
    case 'text':
      return <TextView component={component} />
    case 'metric':
      return <MetricView component={component} />
    case 'table':
      return <TableView component={component} />
    case 'detail':
      return <DetailView component={component} />
    case 'chart':
      return <ChartView component={component} />
    case 'button':
      return <ButtonView component={component} />
    case 'form':
      return <FormView component={component} />
    case 'container':
      return <ContainerView component={component} />
    case 'tabs':
      return <TabsView component={component} />
    default:
      return <FreeInput input={component} />
  }
}

function ContainerView({ component }: { component: ComponentOf<'container'> }) {
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

/** Tabs following the ARIA practices: arrow keys, Home and End move between tabs. */
function TabsView({ component: { tabs } }: { component: ComponentOf<'tabs'> }) {
  return (
    <TabProvider>
      <TabList className="tabs" aria-label="Parts of this page">
        {tabs.map(({ label }, index) => (
          <Tab key={index} className="tab">
            {label}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ children }, index) => (
        <TabPanel key={index} className="stack column">
          {children.map((child, place) => (
            <ComponentView key={place} component={child} />
          ))}
        </TabPanel>
      ))}
    </TabProvider>
  )
}
