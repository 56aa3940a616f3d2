import {
  type ArtifactKind,
  ArtifactLimits,
  ArtifactPermissions,
  newId,
  type Principal,
  type TenantScope,
} from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { type CodeRunner, createCodeRunner } from '@opsplane/sandbox'
import {
  type ApiClient,
  type FakeRoutes,
  type FakeSettings,
  startFakeSettings,
  startTestService,
  type TestService,
  type TestServiceOptions,
  testPrincipal,
} from '@opsplane/testing'
import type { z } from 'zod'
import { versionRef } from '../artifact/versions.js'
import { sdk } from '../service.js'

/** An artifact of a test: its code and the fields that differ from the defaults. */
export interface ArtifactFields {
  slug: string
  /** An ES module. */
  code: string
  kind?: ArtifactKind
  version?: number
  permissions?: z.input<typeof ArtifactPermissions>
  limits?: z.input<typeof ArtifactLimits>
  retryable?: boolean
  status?: 'active' | 'suspended'
  inputSchema?: object
  outputSchema?: object
  rule?: object
  api?: object
}

export interface SdkFixture {
  service: TestService
  settings: FakeSettings
  api: ApiClient
  /** The principal used by `api`. */
  principal: Principal
  /** Installs the artifact as a pack would; returns its id. */
  install(artifact: ArtifactFields, where?: Partial<TenantScope>): Promise<string>
  stop(): Promise<void>
}

/** Key with which values are sealed. */
export const testMasterKey = { OPSPLANE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }

export interface SdkFixtureOptions {
  /** Starts the service elsewhere than in this process. */
  start?: TestServiceOptions<object>['start']
  /** Additional routes of other services, besides those of settings that every test has. */
  routes?: FakeRoutes
}

export async function startSdk(
  env: Record<string, string> = {},
  { start, routes }: SdkFixtureOptions = {},
): Promise<SdkFixture> {
  const settings = await startFakeSettings(routes)
  const urls = Object.fromEntries(
    ['settings', 'integrations', 'itsm', 'database-studio', 'dispatcher'].map((name) => [name, settings.url]),
  )
  const compiler = createCodeRunner({ log: createLogger({ service: 'test', level: 'silent' }) })
  const service = await startTestService(sdk, {
    env: { SERVICE_URLS: JSON.stringify(urls), ...testMasterKey, ...env },
    ...(start && { start }),
  })
  const principal = testPrincipal()
  return {
    ...{ service, settings, principal, api: service.as(principal) },
    install: (artifact, where = {}) =>
      install(
        { ...service, compiler },
        { workspaceId: principal.workspaceId ?? '', environment: 'production', ...where },
        artifact,
      ),
    async stop() {
      await service.stop()
      await compiler.close()
      await settings.stop()
    },
  }
}

async function install(
  { sql, compiler }: Pick<TestService, 'sql'> & { compiler: CodeRunner },
  { workspaceId, environment }: TenantScope,
  given: ArtifactFields,
): Promise<string> {
  const [id, packId, ownerId, installation] = [
    newId('artifact'),
    newId('pack'),
    newId('user'),
    newId('grant'),
  ]
  const compiled = await compiler.compile({ tenant: 'test', source: given.code, fileName: 'index.ts' })
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
  const { slug, kind = 'workflow_action', version = 1, retryable = false, status = 'active' } = given
  const now = new Date().toISOString()
  const common = {
    ...{
      slug,
      name: slug,
      description: '',
      kind,
      retryable,
      packId,
      packName: 'test',
      createdAt: now,
      updatedAt: now,
    },
    permissions: ArtifactPermissions.parse(given.permissions ?? {}),
    limits: ArtifactLimits.parse(given.limits ?? {}),
    ...{ rule: given.rule ?? null, api: given.api ?? null, schedule: null },
  }
  const state = {
    ...common,
    id,
    status,
    artifactVersion: version,
    latestVersion: version,
    ownerId,
    installation,
  }
  const stored = {
    ...{ ...common, artifactId: id, id: versionRef(id, version), number: version, packVersion: '1.0.0' },
    ...{
      digest: '0'.repeat(64),
      createdBy: ownerId,
      code: compiled.code,
      source: given.code,
      fileName: 'index.js',
      tests: [],
    },
    ...{ inputSchema: given.inputSchema ?? null, outputSchema: given.outputSchema ?? null },
  }
  const put = (table: string, key: string, row: object) => sql`
    insert into ${sql(table)} (id, workspace_id, environment, version, state)
    values (${key}, ${workspaceId}, ${environment}, 1, ${sql.json(row as never)})`
  await put('pack_installations', installation, {
    id: installation,
    grant: 'grant-of-a-test',
    createdAt: now,
  })
  await put('artifact_versions', stored.id, stored)
  await put('artifacts', id, state)
  return id
}

/** Returns all rows stored by the service, as text. */
export async function dumpAllRows({ sql }: Pick<TestService, 'sql'>): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`
  const texts = await Promise.all(
    tables.map(
      async ({ name }) =>
        await sql<{ row: string }[]>`select row_to_json(t)::text as row from ${sql(name)} t`,
    ),
  )
  return texts.flatMap((rows) => rows.map(({ row }) => row)).join('\n')
}
