import { expect } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import type postgres from 'postgres'

/** Ids of the workflow, job and KPI that have the same schedule. */
export interface Ticking {
  workflow: string
  job: string
  kpi: string
}

/** State of one schedule at a moment. */
interface Fired {
  /** Times that the schedule has processed, in seconds since 1970, oldest first. */
  times: number[]
  /** Number of runs, executions or values, and how many of them have ended successfully. */
  begun: number
  completed: number
}

const kinds = ['workflow', 'job', 'kpi'] as const
const schemas = { workflow: 'workflows', job: 'sdk', kpi: 'analytics' } as const

/** Compares the work that schedules have started with their times. */
export function fireTimes(sql: postgres.Sql, ticking: Ticking, everySeconds: number) {
  const begunBy = {
    workflow: sql`select status from workflows.runs where workflow_id = ${ticking.workflow}`,
    job: sql`select status from sdk.executions where trigger_id = ${ticking.job}`,
    kpi: sql`select 'completed' as status from analytics.kpi_points where kpi_id = ${ticking.kpi} and not backfilled`,
  }
  const fired = async (kind: (typeof kinds)[number]): Promise<Fired> => {
    const [fires, schedules] = [sql(`${schemas[kind]}.schedule_fires`), sql(`${schemas[kind]}.schedules`)]
    const [row] = await sql<Fired[]>`
      with begun as (${begunBy[kind]})
      select (select count(*)::int from begun) as begun,
        (select count(*)::int from begun where status = 'completed') as completed,
        (select coalesce(array_agg(extract(epoch from fire_at)::float8 order by fire_at), '{}')
         from ${fires} join ${schedules} on id = schedule_id where owner_id = ${ticking[kind]}) as times`
    return row ?? { times: [], begun: 0, completed: 0 }
  }

  return {
    /** Resolves once each has fired and completed twice more. */
    async goOn(after: string): Promise<void> {
      for (const kind of kinds) {
        const before = (await fired(kind)).completed
        await waitFor(async () => (await fired(kind)).completed > before + 1, {
          message: `the schedule of the ${kind} to go on after ${after}`,
        })
      }
    },

    /**
     * Checks that each time started exactly one run, execution or value, none was skipped, and all have ended
     * successfully.
     */
    async firedOnce(): Promise<void> {
      for (const kind of kinds) {
        const { times, begun } = await waitFor(
          async () => {
            const now = await fired(kind)
            return now.completed === now.times.length && now
          },
          { message: `whatever the schedule of the ${kind} has begun to end` },
        )
        expect([kind, begun]).toEqual([kind, times.length])
        const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0))
        expect([kind, [...new Set(gaps)]]).toEqual([kind, [everySeconds]])
      }
    },
  }
}
