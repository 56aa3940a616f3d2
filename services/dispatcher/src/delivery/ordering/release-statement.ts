import type { Database } from '@opsplane/postgres'
import { updateQueuesSql } from '../due-rows.js'

/** The deliveries of one webhook with one ordering key, sent one at a time. */
export interface OrderingQueue {
  webhookId: string
  key: string
  /** The sequence of the first waiting delivery, if known. */
  sequence?: string
}

export interface Released {
  released: number
  above: Required<OrderingQueue>[]
  last: OrderingQueue | null
}

/** Database operations on the ordering queues that a replica needs. */
export interface OrderingRows {
  /**
   * Releases the head of each queue: the first unfinished delivery becomes due if it waits. Only deliveries up to the
   * sequence `lowWatermark` are released; queues that wait only for the low watermark are returned as `above`.
   */
  releaseHeads(queues: OrderingQueue[], lowWatermark: string): Promise<Released>
  /** Same for at most `limit` queues after this one; `last` is null when there are no more. */
  sweepHeads(after: OrderingQueue, limit: number, lowWatermark: string): Promise<Released>
}

export function createOrderingRows(sql: Database['sql']): OrderingRows {
  const run = async (statement: string, parameters: (string | number | string[])[]) => {
    const [row] = await sql.unsafe<Released[]>(statement, parameters, { prepare: true })
    return row ?? { released: 0, above: [], last: null }
  }
  return {
    releaseHeads: (queues, lowWatermark) =>
      run(namedQueues, [
        lowWatermark,
        queues.map(({ webhookId }) => webhookId),
        queues.map(({ key }) => key),
      ]),
    sweepHeads: ({ webhookId, key }, limit, lowWatermark) =>
      run(allQueues, [lowWatermark, webhookId, key, limit]),
  }
}

// Must be identical to the condition of the partial index.
const unfinished = `ordering_key is not null and status in ('pending', 'retrying')`
// Without a lease and a due time: a released delivery has one of them until it is finished.
const waits = `status in ('pending', 'retrying') and due_at is null and lease_owner is null`

// The head of a queue is re-read under a lock, so that only one of two replicas releases it.
const release = `
heads as materialized (
  select h.id, h.ordering_place, queues.webhook_id, queues.ordering_key from queues cross join lateral (
    select id, ordering_place, status, due_at, lease_owner from deliveries
    where webhook_id = queues.webhook_id and ordering_key = queues.ordering_key and ${unfinished}
    order by ordering_place, id limit 1) h
  where ${waits}
),
chosen as materialized (
  select id from deliveries
  where id = any (array(select id from heads where ordering_place <= $1::text)) and ${waits}
  for update skip locked
),
-- A webhook that is drained releases what it missed at the pace of the drain.
released as (
  update deliveries d set due_at = coalesce(
    (select nullif(q.resumed_at, 0) from webhook_queues q where q.webhook_id = d.webhook_id), now_ms())
  where id = any (array(select id from chosen)) returning webhook_id, id, due_at
),
queued as (${updateQueuesSql('released')})
select (select count(*)::int from released) as released,
  coalesce((
    select json_agg(json_build_object('webhookId', webhook_id, 'key', ordering_key, 'sequence', ordering_place))
    from heads where ordering_place > $1::text), '[]') as above`

const namedQueues = `
with queues as materialized (
  select distinct * from unnest($2::text[], $3::text[]) as l (webhook_id, ordering_key)
),
${release}, null as last`

// The recursive part walks the index from queue to queue, without reading the deliveries behind the head.
const allQueues = `
with recursive walk as (
  (select webhook_id, ordering_key from deliveries
   where ${unfinished} and (webhook_id, ordering_key) > ($2::text, $3::text)
   order by webhook_id, ordering_key limit 1)
  union all
  select next.webhook_id, next.ordering_key from walk cross join lateral (
    select webhook_id, ordering_key from deliveries
    where ${unfinished} and (webhook_id, ordering_key) > (walk.webhook_id, walk.ordering_key)
    order by webhook_id, ordering_key limit 1) next
),
queues as materialized (select webhook_id, ordering_key from walk limit $4::int),
${release},
  (select json_build_object('webhookId', webhook_id, 'key', ordering_key) from queues
   where (select count(*) from queues) = $4::int order by webhook_id desc, ordering_key desc limit 1) as last`
