import { changes } from './changes.js'
import { type Dataset, type EventDataset, type FedDataset, isFed } from './dataset.js'
import { deliveries } from './deliveries.js'
import { events, records } from './events.js'
import { executions } from './executions.js'
import { incidents } from './incidents.js'
import { problems } from './problems.js'
import { runs } from './runs.js'
import { slaClocks } from './sla-clocks.js'

/** Every dataset there is, in the order of their list. */
export const datasets: readonly Dataset[] = [
  incidents,
  changes,
  problems,
  slaClocks,
  runs,
  executions,
  deliveries,
  records,
  events,
]

/** Those that events tell of, and those that services are asked about. */
export const eventDatasets = datasets.filter((dataset): dataset is EventDataset => !isFed(dataset))
export const fedDatasets: readonly FedDataset[] = datasets.filter(isFed)

const byName = new Map(datasets.map((dataset) => [dataset.name, dataset]))

export const findDataset = (name: string): Dataset | undefined => byName.get(name)
