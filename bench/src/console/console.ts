import { chromiumPath } from '@opsplane/test-e2e/browser'
import { startStubConsole } from '@opsplane/test-e2e/console-stub'
import { endWithBench } from '../ending.js'
import type { Figure } from '../report.js'
import { measureInteractions } from './interactions.js'
import { measureScrolling } from './scrolling.js'

const rows = 100_000

/** Measures the console in a browser against a stub of the API: the cost in the browser, independent of the platform. */
export async function measureConsole({ say }: { say(text: string): void }): Promise<Figure[]> {
  if (chromiumPath === undefined)
    throw new Error('The console is measured in Chromium: apt-get install chromium.')
  const stub = await startStubConsole(rows)
  endWithBench('stub of the console', () => stub.stop())
  return [...(await measureScrolling(stub, say)), ...(await measureInteractions(stub, say))]
}
