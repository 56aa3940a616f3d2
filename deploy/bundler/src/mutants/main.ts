import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runTests, tryMutant, type Verdict } from './mutate.js'
import { mutants } from './table.js'

const usage = `Usage: npm run mutants -- [options]

Writes one fault after the other into what is built, and runs the tests that are to find it. Exits with 1 where one survives.

  --only <text>     only mutants whose names contain it
  --seconds <n>     how long the tests of one may take, 60 unless given
  --json            one line of JSON for each
  --help            this text
`

const root = fileURLToPath(new URL('../../../../', import.meta.url))
/** Time limit for the tests of all mutants on code without a fault. */
const soundTimeoutMs = 900_000

/** The compiled files are restored when the process exits. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      seconds: { type: 'string', default: '60' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const timeoutMs = Number(values.seconds) * 1_000
  if (!(timeoutMs > 0)) throw new Error(`--seconds is a number above 0, not ${values.seconds}`)
  const chosen = mutants.filter(({ name }) => name.includes(values.only))
  if (chosen.length === 0) throw new Error(`no mutant has ${values.only} in its name`)
  const sound = await runTests(root, [...new Set(chosen.flatMap(({ tests }) => tests))], soundTimeoutMs)
  if (sound !== 'survived') throw new Error('the tests fail without a fault: mend them first')
  const verdicts: Verdict[] = []
  for (const mutant of chosen) {
    const startedAt = performance.now()
    const verdict = await tryMutant(root, mutant, timeoutMs)
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    verdicts.push(verdict)
    const { name, file } = mutant
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ name, file, verdict, seconds })}\n`
        : `${verdict} in ${seconds} s: ${name} (${file})\n`,
    )
  }
  return verdicts.every((verdict) => verdict === 'caught') ? 0 : 1
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  },
)
