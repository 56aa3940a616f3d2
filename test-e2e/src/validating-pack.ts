const validation = (
  slug: string,
  tables: string[],
  whenUnavailable: 'fail_open' | 'fail_closed',
  rest = {},
) => ({
  ...{ slug, kind: 'business_rule', source: `${slug}.ts`, ...rest },
  rule: { validates: { tables, on: ['create', 'update'], whenUnavailable } },
})

/** A pack that validates serial numbers and fails closed, and prices and fails open. */
export const validatingPack = {
  manifest: {
    ...{ format: 'opsplane.pack/1', name: 'checks', version: '1.0.0' },
    artifacts: [
      validation('serials', ['assets'], 'fail_closed'),
      validation('prices', ['parts'], 'fail_open'),
      validation('logs-itself', ['journal'], 'fail_open', {
        permissions: { tables: { journal: ['write'] } },
      }),
    ],
  },
  files: {
    'serials.ts': `import { artifact, type ValidationInput, type ValidationOutput } from '@opsplane/sdk'
      export default artifact<ValidationInput, ValidationOutput>(({ records }) => ({
        faults: records.flatMap(({ serial }, index) =>
          String(serial).startsWith('A-') ? [] : [{ index, column: 'serial', message: 'must begin with A-' }]),
      }))`,
    'prices.ts': `import { artifact, type ValidationInput, type ValidationOutput } from '@opsplane/sdk'
      export default artifact<ValidationInput, ValidationOutput>(({ operation, records, before = [] }) => ({
        faults: records.flatMap(({ price }, index) =>
          operation === 'update' && Number(price) > 2 * Number(before[index]?.price)
            ? [{ index, column: 'price', code: 'too_steep', message: 'must not more than double' }] : []),
      }))`,
    'logs-itself.ts': `import { artifact, type ValidationInput, type ValidationOutput } from '@opsplane/sdk'
      export default artifact<ValidationInput, ValidationOutput>(async ({ records }, host) => {
        await host.table({ table: 'journal', action: 'create', record: { text: 'saw ' + records[0]?.text } })
        return { faults: [] }
      })`,
  },
}
