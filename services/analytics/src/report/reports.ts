import { type NewReport, RunReport } from '@opsplane/contracts'
import { InvalidQuery } from '../query/invalid-query.js'
import type { QueryRunner } from '../query/types.js'
import { fillQuery, findParameters, sampleValues } from './report-query.js'

/** Throws `validation_failed` with the field for a report that cannot be run. */
export function checkReport(
  { query, parameters }: Pick<NewReport, 'query' | 'parameters'>,
  runner: Pick<QueryRunner, 'checkQuery'>,
): void {
  const known = parameters.map(({ name }) => name)
  const unknown = [...findParameters(query.filters), ...findParameters(query.parameters)].find(
    (name) => !known.includes(name),
  )
  if (unknown !== undefined)
    throw new InvalidQuery('/query', `refers to the parameter ${unknown}, which the report does not have`)
  const run = RunReport.parse({ parameters: sampleValues(parameters) })
  try {
    runner.checkQuery(fillQuery({ query, parameters }, run))
  } catch (error) {
    throw error instanceof InvalidQuery ? error.within('/query') : error
  }
}
