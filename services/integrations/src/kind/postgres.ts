import { ApiError, ParameterType } from '@opsplane/contracts'
import type { OutboundStreams } from '@opsplane/http'
import { checkParameter } from '@opsplane/postgres'
import { z } from 'zod'
import { defineAction } from './action.js'
import { CallFailure } from './call-failure.js'
import { Certificates, Credential, plainText } from './credential.js'
import { type Call, defineKind, type Kind } from './kind.js'
import type { SessionTarget } from './postgres/session.js'
import { createSessions, type Sessions } from './postgres/sessions.js'
import { type Running, runStatement, type StatementResult } from './postgres/statement.js'

const Config = z.strictObject({
  host: plainText(253).toLowerCase(),
  port: z.int().min(1).max(65_535).default(5432),
  database: plainText(63),
  user: plainText(63),
  password: Credential.optional(),
  tls: z
    .enum(['verify-full', 'require', 'disable'])
    .default('verify-full')
    .meta({
      description:
        'TLS mode, as sslmode of Postgres: `require` does not verify the certificate, `disable` sends everything ' +
        'unencrypted.',
    }),
  ca: Certificates.optional(),
  readOnly: z
    .boolean()
    .default(false)
    .meta({ description: 'Excludes the action that could change data: `execute`.' }),
})
type Config = z.infer<typeof Config>

const maxParameters = 1_000
const Statement = z
  .strictObject({
    sql: z
      .string()
      .min(1)
      .max(100_000)
      .meta({ description: 'One statement, with parameters as `$1`, `$2`, …' }),
    parameters: z.array(z.unknown()).max(maxParameters).default([]).meta({
      description: 'Values of `$1`, `$2`, …: a list becomes an SQL array, an object becomes JSON.',
    }),
    types: z.array(ParameterType.nullable()).max(maxParameters).default([]).meta({
      description: 'Types of the parameters in their order, for parameters whose type Postgres cannot infer.',
    }),
    maxRows: z
      .int()
      .min(1)
      .max(10_000)
      .default(1_000)
      .meta({ description: 'Maximum number of rows to return.' }),
  })
  .superRefine(({ sql, parameters, types }, context) => {
    const refuse = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message })
    if (/^\s*copy\b/i.test(sql)) refuse(['sql'], 'must not be COPY')
    for (const [index, type] of types.entries()) {
      const wrong = type && mismatch(parameters[index] ?? null, type)
      if (wrong) refuse(['parameters', index], wrong)
    }
  })
type Statement = z.infer<typeof Statement>

const Rows = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(z.record(z.string(), z.unknown())).meta({
    description:
      'Rows as objects by column name; a repeated name is suffixed with `_2`. Bigints and decimals are strings.',
  }),
  truncated: z.enum(['rows', 'bytes']).nullable().meta({
    description:
      'The limit that cut off rows: `maxRows`, or the size limit of 1 MiB; `null` if all rows are included.',
  }),
})
const QueryOutput = Rows.extend({ rowCount: z.int().meta({ description: 'Number of rows returned.' }) })
const ExecuteOutput = Rows.extend({
  affected: z
    .int()
    .meta({ description: 'Number of rows returned or, if the statement returns none, changed.' }),
})

/** The kind for a tenant's database: queries, and writes with `execute`. */
export function postgresKind(outbound: OutboundStreams): Kind {
  const sessions = createSessions(outbound)
  return defineKind<Config>({
    name: 'postgres',
    title: 'PostgreSQL',
    description: 'Queries and statements on a PostgreSQL database.',
    config: Config,
    check: ({ host, port }) => outbound.checkTarget({ host, port }, '/config'),
    sendsTo: ({ host, password }) => [{ path: ['password'], value: password, host }],
    actions: {
      query: defineAction({
        title: 'Query',
        description: 'Runs one SELECT in a transaction that cannot change anything and is rolled back.',
        input: Statement,
        output: QueryOutput,
        repeatable: true,
        run: async (call: Call<Config>, input) => {
          const { affected: _, ...found } = await run(sessions, call, input, 'read')
          return found
        },
      }),
      execute: defineAction({
        title: 'Execute',
        description: 'Runs one statement of any kind in its own transaction, and returns its rows.',
        input: Statement,
        output: ExecuteOutput,
        repeatable: false,
        run: async (call: Call<Config>, input) => {
          if (call.config.readOnly) throw readOnly()
          const { rowCount: _, ...changed } = await run(sessions, call, input, 'write')
          return changed
        },
      }),
    },
    async test(call) {
      const text = "select current_setting('server_version') as version"
      const { rows } = await run(sessions, call, { sql: text, parameters: [], types: [], maxRows: 1 }, 'read')
      const { database, user } = call.config
      return `PostgreSQL ${rows[0]?.version} lets ${user} use ${database}.`
    },
    close: () => sessions.close(),
  })
}

async function run(
  sessions: Sessions,
  call: Call<Config>,
  statement: Statement,
  mode: Running['mode'],
): Promise<StatementResult> {
  const target = await targetOf(call)
  return sessions.using(call, target, (session) =>
    runStatement(session, statement, { mode, timeoutMs: call.remainingMs() }),
  )
}

async function targetOf({ config, secrets }: Call<Config>): Promise<SessionTarget> {
  const { readOnly: _, password, ...target } = config
  return { ...target, password: password === undefined ? '' : await secrets.fill(password, config.host) }
}

const readOnly = () =>
  new CallFailure('answered', 'The connector is read-only, so that it only takes queries.', { sent: false })

/** Validates a value for its type, for a better message than Postgres would give. */
function mismatch(value: unknown, type: ParameterType): string | undefined {
  try {
    checkParameter('', value, type)
  } catch (error) {
    return error instanceof ApiError ? error.message : undefined
  }
}
