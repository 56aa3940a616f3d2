/**
 * Environment variables that `npm run test:long` sets, unless they are set already, to test more than `npm test`. Any
 * of them makes a run part of the long tier.
 */
export const longTier: Readonly<Record<string, string>> = {
  BACKUP_DRILLS: '1',
  CRASH_KILLS: '300',
  DELIVERY_KILLS: '60',
  ENGINE_RUNS: '20000',
  EXPORT_KILLS: '30',
  FACT_KILLS: '30',
  FUZZ_RUNS: '40',
  LONG_POLLS: '10000',
  OUTAGE_SECONDS: '120',
  RELAY_EVENTS: '1000000',
  REPLICA_KILLS: '3',
  SDK_KILLS: '60',
  SEARCH_TIMES: '10',
  SIMULATION_SEEDS: '100000',
  STUDIO_KILLS: '30',
  TEST_CHART: '1',
  TEST_CLIENTS: '1',
  TEST_CLOCKS: '100000',
  TEST_GALLERY: '1',
  TEST_HEAP: '1',
  TEST_HELD_DELIVERIES: '1000000',
  TEST_IMAGE: '1',
  TEST_NGINX: '1',
  TEST_TARPITS: '4700',
  TEST_WEBHOOKS: '100000',
  UPGRADE_FROM: '281bcf2a,983a8f06',
  WORKFLOW_KILLS: '200',
  WORKFLOW_QUEUED: '100000',
  WORKFLOW_RUNS: '10000',
}

/** Whether the run is part of the long tier. */
export const isLongTier = (env: Readonly<Record<string, string | undefined>> = process.env): boolean =>
  Object.keys(longTier).some((name) => env[name] !== undefined)
