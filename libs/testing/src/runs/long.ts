import { parseArgs } from 'node:util'
import { longTier } from './long-tier.js'
import { describeResults, printOutcome, readResults, runTests, summaryFile } from './results.js'

const usage = `Usage: npm run test:long -- [--shard K/N] [--summary] [--json] [arguments for jest]

Runs the tests with more of everything. In shards of under an hour each it may run on different days: each
result is added to ${summaryFile} with its commit.

  --shard K/N   one part of N; the same N for all of them
  --summary     runs nothing: prints what this commit's shards have come to
  --json        prints the results as JSON
  -h, --help    prints this

Exits with 0 when what was run is green, and with --summary when every shard of this commit is.
`
const { values, positionals } = parseArgs({
  options: {
    shard: { type: 'string' },
    summary: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
  allowPositionals: true,
})
const shard = /^([1-9]\d*)\/([1-9]\d*)$/.exec(values.shard ?? '1/1')
if (values.help) process.stdout.write(usage)
else if (!shard || Number(shard[1]) > Number(shard[2])) {
  process.stderr.write(`--shard ${values.shard} is no part of a whole, such as 3/8.\n\n${usage}`)
  process.exitCode = 2
} else if (values.summary) summarize()
else await run(shard[0])

async function run(part: string): Promise<void> {
  const result = await runTests('long', part, [`--shard=${part}`, ...positionals], {
    ...longTier,
    ...process.env,
  })
  process.stdout.write(`${values.json ? JSON.stringify(result) : describeResults([result])}\n`)
  process.exitCode = result.failed === 0 ? 0 : 1
}

/** Only the last result of each shard counts. */
function summarize(): void {
  const latest = new Map(readResults('long').map((result) => [result.part, result]))
  const parts = Number([...latest.keys()].at(-1)?.split('/')[1] ?? 1)
  const expectedParts = Array.from({ length: parts }, (_, index) => `${index + 1}/${parts}`)
  const missing = expectedParts.filter((part) => !latest.has(part))
  const results = expectedParts.flatMap((part) => latest.get(part) ?? [])
  printOutcome(results, missing, values)
}
