import { changes } from './changes.js'
import { type Dataset, type EventDataset, type FedDataset, isFed } from './dataset.js'
import { deliveries } from './deliveries.js'
import { events, records } from './events.js'
import { executions } from './executions.js'
import { incidents } from './incidents.js'
import { problems } from './problems.js'
import { runs } from './runs.js'
import { slaClocks } from './sla-clocks.js'

/** All datasets, in the order in which they are listed. */
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

/** Datasets derived from events; `fedDatasets` are pulled from services. */
export const eventDatasets = datasets.filter((dataset): dataset is EventDataset => !isFed(dataset))
export const fedDatasets: readonly FedDataset[] = datasets.filter(isFed)

const byName = new Map(datasets.map((dataset) => [dataset.name, dataset]))

export const findDataset = (name: string): Dataset | undefined => byName.get(name)
