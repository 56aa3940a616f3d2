import { type Principal, Table, type TableState } from '@opsplane/contracts'
import { startTestService } from '@opsplane/testing'
import { databaseStudio } from '../service.js'
import { unreachableServices } from '../unreachable-services.fixture.js'

/** Starts the real service; tables are created through its API. */
export async function startStudio(env: Record<string, string> = unreachableServices) {
  const studio = await startTestService(databaseStudio, { env })
  return {
    studio,
    /** Creates a copy of this table definition in the principal's workspace and environment. */
    async addTable(
      principal: Principal,
      { slug, columns, indexes, uniques, rules }: TableState,
    ): Promise<Table> {
      const made = await studio.as(principal).post('/tables', { slug, columns, indexes, uniques, rules })
      return made.data(Table)
    },
  }
}
