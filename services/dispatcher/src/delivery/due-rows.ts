import type { Transaction } from '@opsplane/eventstore'
import { toStatementRunner } from '@opsplane/postgres'

/**
 * Part of a statement that updates the queues with deliveries that became due: `rows` has webhook_id, id and due_at. It
 * locks the queue's row even if the row does not change, which claims rely on. If no queue exists, the webhook has been
 * deleted.
 */
export const updateQueuesSql = (rows: string) => `
  insert into webhook_queues as q (webhook_id, status, next_due_at, oldest_id)
  select webhook_id, 'deleted', min(due_at), min(id) from ${rows} where due_at is not null
  group by webhook_id order by webhook_id
  on conflict (webhook_id) do update set next_due_at = least(q.next_due_at, excluded.next_due_at),
    oldest_id = case when q.next_due_at is null then excluded.oldest_id else least(q.oldest_id, excluded.oldest_id) end
  where q.next_due_at is null or excluded.next_due_at < q.next_due_at or excluded.oldest_id < q.oldest_id`

/**
 * Makes resent deliveries due, in the transaction that resends them; ordered ones wait in
 * their ordering queue instead.
 */
export async function makeDue(tx: Transaction, ids: string[]): Promise<void> {
  await toStatementRunner(tx).unsafe(
    `with due as (
      update deliveries set due_at = now_ms() where id = any ($1::text[]) and ordering_key is null
      returning webhook_id, id, due_at
    )
    ${updateQueuesSql('due')}`,
    [ids],
  )
}
