import { type Execution, stringifyExact } from '@opsplane/contracts'
import type { Column } from '../table.js'

export const executionColumns: Column<Execution>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'status', value: ({ status }) => status },
  { title: 'artifact', value: artifactOf, elastic: true },
  { title: 'trigger', value: ({ trigger_type }) => trigger_type },
  { title: 'started', value: ({ started_at }) => started_at },
  { title: 'ms', value: ({ duration_ms }) => duration_ms },
  { title: 'error', value: errorOf, elastic: true },
]

/** An execution as one line of text. */
export function executionLine(execution: Execution): string {
  const { started_at, id, status, trigger_type, duration_ms } = execution
  const duration = duration_ms === null ? null : `${duration_ms} ms`
  return [started_at, id, status, trigger_type, artifactOf(execution), duration, errorOf(execution)]
    .filter(Boolean)
    .join('  ')
}

/** An execution with its input, output and log as readable text. */
export function executionLines(execution: Execution): string[] {
  const { id, status, trigger_type, trigger_id, environment, replay_of, logs, error } = execution
  const { started_at, completed_at, duration_ms, memory_peak_mb, input, output } = execution
  return [
    `execution  ${id}`,
    `artifact   ${artifactOf(execution)}`,
    `trigger    ${[trigger_type, trigger_id].filter(Boolean).join(' ')}`,
    `status     ${status} in ${environment}`,
    ...(replay_of ? [`replay of  ${replay_of}`] : []),
    `started    ${started_at}`,
    ...(completed_at ? [`ended      ${completed_at}, ${duration_ms} ms, ${memory_peak_mb} MB`] : []),
    `input      ${stringifyExact(input)}`,
    `output     ${stringifyExact(output)}`,
    ...(error ? ['', `! ${error.code}: ${error.message}`, ...stackLines(error.stack)] : []),
    ...(logs.length > 0 ? [''] : []),
    ...logs.map(({ ts, level, message, data }) =>
      [ts, level.padEnd(5), message, ...(data === null ? [] : [stringifyExact(data)])].join('  '),
    ),
  ]
}

const stackLines = (stack: string) =>
  stack
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => `    ${line.trim()}`)

function artifactOf({ artifact_slug, artifact_version }: Execution): string {
  return `${artifact_slug} v${artifact_version}`
}

function errorOf({ error }: Execution): string | null {
  return error && `${error.code}: ${error.message}`
}
