import { createLogger } from '@opsplane/runtime'
import { createCodeRunner, createExpressions } from '@opsplane/sandbox'

const log = createLogger({ service: 'evaluate', level: 'error' })
const tenant = 'ws/production'

// A program with child processes of every kind.
async function evaluate() {
  const expressions = createExpressions({ log })
  const request = { tenant, expression: 'a * 2', input: { a: 21 }, timeoutMs: 60_000 }
  const evaluated = await expressions.evaluateExpression(request)
  await expressions.close()
  process.stdout.write(JSON.stringify([evaluated, await ran()]))
}

async function ran() {
  const runner = createCodeRunner({ log })
  const source = 'export default (n: number) => n * 2'
  const compiled = await runner.compile({ tenant, source, fileName: 'double.ts' })
  if (!compiled.ok) return compiled
  const limits = {
    cpuMs: 60_000,
    wallMs: 60_000,
    memoryMb: 16,
    inputBytes: 100,
    outputBytes: 100,
    logBytes: 0,
    hostCalls: 0,
    hostCallsAtOnce: 0,
  }
  const host = () => Promise.reject(new Error('is not called'))
  const request = { tenant, code: compiled.code, args: [21], limits, functions: [], host }
  const { status, output } = await runner.run(request)
  await runner.close()
  return { status, output }
}

void evaluate()
