import { createLogger } from '@opsplane/runtime'
import { createExpressions } from '@opsplane/sandbox'

// A program with child processes.
async function evaluate() {
  const expressions = createExpressions({ log: createLogger({ service: 'evaluate', level: 'error' }) })
  const request = { tenant: 'ws/production', expression: 'a * 2', input: { a: 21 }, timeoutMs: 60_000 }
  process.stdout.write(JSON.stringify(await expressions.evaluateExpression(request)))
  await expressions.close()
}

void evaluate()
