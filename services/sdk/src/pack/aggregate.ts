import type { Pack } from '@opsplane/contracts'
import type { Aggregate } from '@opsplane/eventstore'
import type { PackCommand, PackRecord } from './domain.js'

export type PackAggregate = Aggregate<PackRecord, PackCommand, Pack>
