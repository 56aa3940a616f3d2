import { itsmEvents } from '@opsplane/contracts'
import { type BackendContext, type Closable, consumeEvents } from '@opsplane/eventstore'
import { createCascade } from './cascade.js'

/** What follows from what happens to incidents. */
export function incidentConsumers(ctx: BackendContext): Closable[] {
  const cascade = createCascade(ctx)
  return [
    consumeEvents({
      database: ctx.database,
      link: ctx.link,
      names: ctx.names,
      log: ctx.log,
      durable: 'itsm-incident-families',
      filterSubjects: ctx.names.eventFilters(Object.keys(itsmEvents)),
      handle: (events) => cascade.handle(events),
    }),
  ]
}
