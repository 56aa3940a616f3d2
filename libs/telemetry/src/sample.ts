import type { LabelsOf, NameOf } from './catalogue.js'

/** The current value of a metric. */
export type Sample = {
  [Name in NameOf<'counter' | 'gauge'>]: {
    name: Name
    value: number
    labels?: LabelsOf<Name>
  }
}[NameOf<'counter' | 'gauge'>]

/** Returns values for a scrape: existing counters, or the result of a query. */
export type Source = () => readonly Sample[] | Promise<readonly Sample[]>
