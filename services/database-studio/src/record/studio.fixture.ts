import { type Principal, Table, type TableState } from '@opsplane/contracts'
import { startTestService } from '@opsplane/testing'
import { databaseStudio } from '../service.js'
import { unreachableServices } from '../unreachable-services.fixture.js'

/** The real service, with tables made through its API. */
export async function startStudio(env: Record<string, string> = unreachableServices) {
  const studio = await startTestService(databaseStudio, { env })
  return {
    studio,
    /** A table like this one, in the workspace and environment of the principal. */
    async addTable(
      principal: Principal,
      { slug, columns, indexes, uniques, rules }: TableState,
    ): Promise<Table> {
      const made = await studio.as(principal).post('/tables', { slug, columns, indexes, uniques, rules })
      return made.data(Table)
    },
  }
}
