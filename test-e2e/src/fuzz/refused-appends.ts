import { type BackendName, backendNames } from '@opsplane/contracts'
import { findDatabaseUrl } from '@opsplane/local'
import postgres from 'postgres'

async function eachLog(adminUrl: string, change: (schema: string, role: string) => string) {
  const changeOne = async (service: BackendName) => {
    const sql = postgres(await findDatabaseUrl(service, adminUrl), { max: 1, onnotice: () => undefined })
    const schema = service.replaceAll('-', '_')
    try {
      const [role] = await sql<{ name: string }[]>`select opsplane.role_name(${schema}) as name`
      await sql.unsafe(change(schema, String(role?.name)))
    } finally {
      await sql.end({ timeout: 5 })
    }
  }
  await Promise.all(backendNames.map(changeOne))
}

/**
 * Makes Postgres reject all appends to the services' logs while `work` runs, so that every operation that changes
 * something fails.
 */
export async function withRefusedAppends<T>(adminUrl: string, work: () => Promise<T>): Promise<T> {
  await eachLog(adminUrl, (schema, role) => `revoke insert on ${schema}.events from ${role}`)
  try {
    return await work()
  } finally {
    await eachLog(adminUrl, (schema, role) => `grant insert on ${schema}.events to ${role}`)
  }
}

const described =
  /^(name|title|label|displayName|description|summary|text|body|content|comment|note|notes|message|subject|reason|value)$/

/** Returns the body with a mark in every text that names or describes something. */
export function markBody(body: unknown, mark: string): unknown {
  if (Array.isArray(body)) return body.map((each) => markBody(each, mark))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'string' && described.test(name) ? `${value} ${mark}` : markBody(value, mark),
    ]),
  )
}
