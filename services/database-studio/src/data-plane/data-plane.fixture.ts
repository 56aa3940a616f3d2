import { connect, type Database } from '@opsplane/postgres'
import { createDatabase, templateDatabase, testLogin } from '@opsplane/testing'
import postgres from 'postgres'
import { databaseStudio } from '../service.js'
import { createDataPlane, type DataPlane } from './data-plane.js'

/** The data plane on its own database, without the service around it. */
export interface TestDataPlane {
  plane: DataPlane
  /** Connection as the login of the service. */
  service: Database
  /** Connection as the superuser. */
  admin: postgres.Sql
  /** Another replica, limited to `dataSessions` sessions. */
  replica(dataSessions: number): DataPlane
  close(): Promise<void>
}

export async function openTestDataPlane(dataSessions = 8): Promise<TestDataPlane> {
  const provision = (adminUrl: string) => databaseStudio.provision({ adminUrl, ...testLogin })
  const migrated = await templateDatabase('database-studio', async (url) => void (await provision(url)))
  const testDatabase = await createDatabase(migrated)
  const url = await provision(testDatabase.url)
  const service = connect(url, { schema: 'database_studio' })
  const admin = postgres(testDatabase.url, {
    max: 1,
    onnotice: () => {},
    connection: { search_path: 'database_studio' },
  })
  const required = { DATABASE_URL: url, SERVICE_PRIVATE_KEY: 'none', TRUSTED_SERVICE_KEYS: '{}' }
  const config = databaseStudio.loadConfig({
    ...required,
    CURSOR_SECRET: 'a secret for the cursors of tests',
  })
  const planes: DataPlane[] = []
  const replica = (sessions: number) => {
    const plane = createDataPlane({
      ...{ config: { ...config, dataSessions: sessions }, database: service },
      relay: { wake: () => {} },
    })
    planes.push(plane)
    return plane
  }
  return {
    plane: replica(dataSessions),
    service,
    admin,
    replica,
    async close() {
      await Promise.all(planes.map((plane) => plane.close()))
      await service.close()
      await admin.end({ timeout: 1 })
      await testDatabase.drop()
    },
  }
}
