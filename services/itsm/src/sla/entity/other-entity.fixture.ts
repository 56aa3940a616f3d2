import { idSchema, Priority } from '@opsplane/contracts'
import { z } from 'zod'
import { slaEntity } from './entity.js'

export const TicketState = z.object({
  id: idSchema('problem'),
  number: z.string(),
  status: z.enum(['new', 'assess', 'fix_in_progress', 'resolved', 'closed']),
  canceled: z.boolean(),
  priority: Priority,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type TicketState = z.infer<typeof TicketState>

const open = ['new', 'assess', 'fix_in_progress']

/**
 * A kind of entity that differs from incidents: no severity, response or hold reasons, and different final
 * statuses.
 */
export const ticketEntity = slaEntity({
  entityType: 'problem',
  table: 'test_tickets',
  numberPrefix: 'PRB-',
  durable: 'itsm-ticket-timers',
  eventTypes: ['ticket.created', 'ticket.updated'],
  metrics: { resolution: open },
  goalsBy: ['priority', 'all'],
  pauseReasons: null,
  openStatuses: open,
  state: TicketState,
  facts: ({ id, number, createdAt, status, priority, canceled }) => {
    const ended = status === 'resolved' || status === 'closed' ? 'completed' : null
    const rest = { severity: null, holdReason: null, response: null }
    return { id, number, createdAt, status, priority, ...rest, ended: canceled ? 'canceled' : ended }
  },
})

export const ticket = (fields: Partial<TicketState>): TicketState => ({
  id: 'prb_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  number: 'PRB-1',
  status: 'new',
  canceled: false,
  priority: 'P2',
  createdAt: '2026-03-02T09:00:00.000Z',
  updatedAt: '2026-03-02T09:00:00.000Z',
  ...fields,
})
