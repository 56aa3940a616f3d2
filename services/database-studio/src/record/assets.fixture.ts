import { TableState } from '@opsplane/contracts'

const at = '2026-03-02T10:00:00.000Z'
const rest = {
  description: '',
  checks: [],
  uniques: [],
  rules: [],
  purgeAt: null,
  createdAt: at,
  updatedAt: at,
}

/** A table with a column of every type. */
export const assets: TableState = TableState.parse({
  ...rest,
  id: 'tbl_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  slug: 'assets',
  name: 'Assets',
  columns: [
    { name: 'name', type: 'text', nullable: false, maxLength: 40 },
    { name: 'serial', type: 'text', unique: true },
    { name: 'quantity', type: 'integer', nullable: false, default: 1 },
    { name: 'counter', type: 'bigint' },
    { name: 'price', type: 'decimal', precision: 6, scale: 2 },
    { name: 'active', type: 'boolean' },
    { name: 'bought_on', type: 'date' },
    { name: 'seen_at', type: 'timestamp' },
    { name: 'extra', type: 'json' },
    { name: 'token', type: 'uuid' },
    { name: 'status', type: 'enum', values: ['new', 'used'] },
    { name: 'site', type: 'reference', table: 'sites' },
    { name: 'label', type: 'computed', expression: 'upper(name)', resultType: 'text' },
  ],
  indexes: [
    { name: 'by_status', columns: [{ name: 'status' }, { name: 'quantity', direction: 'desc' }] },
    { name: 'by_price', columns: [{ name: 'price' }] },
    { name: 'by_created', columns: [{ name: 'created_at', direction: 'desc' }] },
    { name: 'name_parts', columns: [{ name: 'name' }], kind: 'trigram' },
  ],
})
