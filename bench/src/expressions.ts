import { createLogger } from '@opsplane/runtime'
import { createExpressions, type Expressions, parseTemplate, type Template } from '@opsplane/sandbox'
import jsonata from 'jsonata'
import { percentile } from './child.js'
import type { MeasureOptions } from './log/creates.js'
import type { Figure } from './report.js'

const source = '$uppercase(trigger.title) & " #" & $string(trigger.count + 1)'
const scope = {
  trigger: { title: 'Disk full on db-3', count: 41 },
  steps: { fetch: { output: [{ id: 7 }] } },
}
const tenant = 'ws_bench/production'
const goals = { perSecond: 5_000, p50Ms: 0.2 }
const clients = 16

/**
 * Measures expressions evaluated by two child processes, compared with JSONata called in this process, which is not
 * allowed for tenant expressions.
 */
export async function measureExpressions({
  seconds,
  say,
}: Pick<MeasureOptions, 'seconds' | 'say'>): Promise<Figure[]> {
  const expressions = createExpressions({ log: createLogger({ service: 'bench', level: 'error' }) })
  try {
    const remote = evaluating(expressions, template({ message: `{{ ${source} }}` }))
    await repeat(remote, { seconds: 1, clients })
    say(`Evaluating an expression with ${clients} clients, then with one, then without children…`)
    const many = await repeat(remote, { seconds, clients })
    const one = await repeat(remote, { seconds, clients: 1 })
    const plain = template({ title: '{{trigger.title}}', ids: '{{steps.fetch.output.id}}' })
    const pathTemplates = await repeat(evaluating(expressions, plain), { seconds: 1, clients: 1 })
    const compiled = jsonata(source)
    const bare = await repeat(async () => void (await compiled.evaluate(scope)), { seconds, clients: 1 })
    return [
      {
        name: 'expressions evaluated in children',
        value: `${many.perSecond.toFixed(0)}/s`,
        raw: `${bare.perSecond.toFixed(0)}/s (bare JSONata, same process)`,
        ratio: many.perSecond / bare.perSecond,
        goal: `≥ ${goals.perSecond}/s`,
        met: many.perSecond >= goals.perSecond,
      },
      {
        name: 'an expression in a child, p50 of one client',
        value: `${one.p50Ms.toFixed(3)} ms`,
        raw: `${bare.p50Ms.toFixed(3)} ms`,
        goal: `≤ ${goals.p50Ms} ms`,
        met: one.p50Ms <= goals.p50Ms,
      },
      {
        name: 'templates of paths only, without a child',
        value: `${pathTemplates.perSecond.toFixed(0)}/s`,
        goal: `≥ ${many.perSecond.toFixed(0)}/s`,
        met: pathTemplates.perSecond >= many.perSecond,
      },
    ]
  } finally {
    await expressions.close()
  }
}

function template(value: unknown): Template {
  const parsed = parseTemplate(value)
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
  return parsed.template
}

const evaluating = (expressions: Expressions, evaluated: Template) => async () => {
  const [result] = await expressions.evaluate({ tenant, scope, templates: [evaluated] })
  if (!result?.ok) throw new Error(JSON.stringify(result))
}

/** Repeats `act` as fast as possible: each client starts the next call when its previous one is done. */
async function repeat(act: () => Promise<void>, options: { seconds: number; clients: number }) {
  const durationsMs: number[] = []
  const begun = performance.now()
  const until = begun + options.seconds * 1_000
  const client = async () => {
    for (let now = performance.now(); now < until; ) {
      await act()
      const done = performance.now()
      durationsMs.push(done - now)
      now = done
    }
  }
  await Promise.all(Array.from({ length: options.clients }, client))
  return {
    perSecond: durationsMs.length / ((performance.now() - begun) / 1_000),
    p50Ms: percentile(durationsMs, 0.5),
  }
}
