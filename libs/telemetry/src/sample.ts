import type { LabelsOf, NameOf } from './catalogue.js'

/** A value of a metric as it is now. */
export type Sample = {
  [Name in NameOf<'counter' | 'gauge'>]: {
    name: Name
    value: number
    labels?: LabelsOf<Name>
  }
}[NameOf<'counter' | 'gauge'>]

/** Finds out values for a scrape: what is counted anyway, or the answer to a query. */
export type Source = () => readonly Sample[] | Promise<readonly Sample[]>
