import type { Page, TenantScope } from '@opsplane/contracts'
import { type Drizzle, openClient } from '@opsplane/postgres'
import { drizzle } from 'drizzle-orm/postgres-js'

interface Node {
  'Node Type': string
  'Index Name'?: string
  Plans?: Node[]
}

export interface ListPlan {
  indexes: string[]
  /** Node types, such as `Sort`. */
  nodes: string[]
}

export const plansTenant: TenantScope = { workspaceId: 'ws_plans', environment: 'production' }

/** Reads lists and returns the Postgres plans of exactly the statements that were sent for them. */
export function listPlans(url: string) {
  const client = openClient(url, { schema: 'itsm', max: 1 })
  const sent: { text: string; parameters: unknown[] }[] = []
  const logger = { logQuery: (text: string, parameters: unknown[]) => sent.push({ text, parameters }) }
  const db: Drizzle = drizzle(client, { logger })
  return {
    async of(list: (db: Drizzle) => Promise<Page<unknown>>): Promise<ListPlan & { found: unknown[] }> {
      sent.length = 0
      const { items } = await list(db)
      const nodes: Node[] = []
      await client.begin(async (tx) => {
        for (const { text, parameters } of sent) {
          const statement = text.includes('set_config') ? text : `explain (format json) ${text}`
          const [row] = await tx.unsafe<{ 'QUERY PLAN'?: [{ Plan: Node }] }[]>(
            statement,
            parameters.map(String),
          )
          for (const { Plan } of row?.['QUERY PLAN'] ?? []) nodes.push(...flat(Plan))
        }
      })
      return {
        found: items,
        indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
        nodes: nodes.map((node) => node['Node Type']),
      }
    },
    close: () => client.end({ timeout: 5 }),
  }
}

const flat = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(flat)]
