import { runTeardown } from './run-cleanup.js'

/** Stops everything the set-up of this run started and removes its files. */
export default async function tearDown(): Promise<void> {
  await runTeardown()
}
