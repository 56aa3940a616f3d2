import { Tab, TabList, TabPanel, TabProvider } from '@ariakit/react'
import { ComponentView } from './component.js'
import type { Of } from './kinds.js'

/** Tabs by the pattern of the ARIA practices: arrow keys, Home and End go from one to the next. */
export function TabsView({ component: { tabs } }: { component: Of<'tabs'> }) {
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
