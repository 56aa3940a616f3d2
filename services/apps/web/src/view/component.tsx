import type { Component } from '@opsplane/contracts'
import { isShown } from '../page/store.js'
import { ButtonView } from './button.js'
import { ChartView } from './chart.js'
import { ContainerView } from './container.js'
import { usePage, useValue } from './context.js'
import { DetailView } from './detail.js'
import { FormView } from './form.js'
import { FreeInput } from './input.js'
import { TableView } from './table.js'
import { TabsView } from './tabs.js'
import { MetricView, TextView } from './text.js'

/** A component of a page, where it is to be seen. */
export function ComponentView({ component }: { component: Component }) {
  const { store } = usePage()
  const visible = useValue(component.visible ?? true, store.scope)
  if (visible.error === undefined && !isShown(visible.value)) return null
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
