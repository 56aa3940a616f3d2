import { z } from 'zod'
import { Filter, NewFilter } from '../core/filter.js'
import { idSchema } from '../core/ids.js'
import { PermissionName } from '../core/permission-name.js'
import { Environment } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { DefinitionChange } from '../workflows/workflow-resources.js'
import { pageFields } from './app-components.js'
import { AppNameReference } from './app-names.js'
import { dataSourceFields } from './app-sources.js'

const At = z.iso.datetime({ precision: 3 })
const Version = { version: z.int().min(1) }
const Name = z.string().trim().min(1).max(200)
const Description = z.string().trim().max(2_000)

/** Part of the app's URL: `{origin}/apps/:workspace/:slug`. */
const AppSlug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?$/, 'must be a slug such as asset-register')
  .meta({ example: 'asset-register' })

const appStatuses = ['active', 'archived'] as const
export const AppStatus = z.enum(appStatuses)

const AccessNames = (noun: string) =>
  z
    .array(z.string().min(1).max(100))
    .max(200)
    .refine((names) => new Set(names).size === names.length, `must name each ${noun} once`)

/** Who may use an app, if not everyone with `apps:use`. */
export const AppAccess = z
  .strictObject({
    roles: AccessNames('role')
      .default([])
      .meta({ description: 'Names of roles. Their members do not need `apps:use`.' }),
    users: AccessNames('user')
      .default([])
      .meta({ description: 'Ids of members. They do not need `apps:use`.' }),
  })
  .meta({ id: 'AppAccess', example: { roles: ['viewer'], users: [] } })
export type AppAccess = z.infer<typeof AppAccess>

const Access = AppAccess.nullable().meta({
  description:
    'Users and roles that may use the app in every environment; `null` for everyone with `apps:use`. Only the ' +
    'listed users and roles may use this app, and only for what its deployment declares. An API key also needs ' +
    'the scope `apps:use`.',
})

/** An app built of pages and data sources. It belongs to the workspace and is deployed to its environments. */
export const AppState = z.object({
  id: idSchema('app'),
  slug: AppSlug,
  name: Name,
  description: Description,
  access: Access.default(null),
  status: AppStatus,
  createdAt: At,
  updatedAt: At,
})
export type AppState = z.infer<typeof AppState>

export const App = AppState.extend(Version).meta({ id: 'App' })
export type App = z.infer<typeof App>

export const NewApp = z
  .strictObject({
    slug: AppSlug.meta({
      description: 'Slug of the app. Unique among the apps of the workspace that are not archived.',
    }),
    name: Name,
    description: Description.default(''),
    access: Access.default(null),
  })
  .meta({ id: 'NewApp', example: { slug: 'asset-register', name: 'Asset register' } })
export type NewApp = z.infer<typeof NewApp>

export const AppPatch = z
  .strictObject({ slug: AppSlug, name: Name, description: Description, access: Access })
  .partial()
  .meta({ id: 'AppPatch', example: { name: 'Assets' } })
export type AppPatch = z.infer<typeof AppPatch>

const owned = { appId: idSchema('app') }
const times = { createdAt: At, updatedAt: At }

export const AppPageState = z.object({ id: idSchema('page'), ...owned, ...pageFields, ...times })
export type AppPageState = z.infer<typeof AppPageState>

export const AppPage = AppPageState.extend(Version).meta({ id: 'AppPage' })
export type AppPage = z.infer<typeof AppPage>

export const DataSourceState = z.object({
  id: idSchema('dataSource'),
  ...owned,
  ...dataSourceFields,
  ...times,
})
export type DataSourceState = z.infer<typeof DataSourceState>

export const DataSource = DataSourceState.extend(Version).meta({ id: 'DataSource' })
export type DataSource = z.infer<typeof DataSource>

/** A problem of a page or data source that prevents its deployment. */
export const AppProblem = z
  .object({
    path: z.string().meta({ description: 'JSON pointer to the problem.', example: '/components/0/source' }),
    code: z.string().meta({ example: 'unknown_source' }),
    message: z.string(),
  })
  .meta({ id: 'AppProblem' })
export type AppProblem = z.infer<typeof AppProblem>

export const AppPageWithProblems = AppPage.extend({
  problems: z.array(AppProblem).meta({ description: 'Problems that prevent the deployment of the page.' }),
}).meta({ id: 'AppPageWithProblems' })
export type AppPageWithProblems = z.infer<typeof AppPageWithProblems>

export const DataSourceWithProblems = DataSource.extend({
  problems: z.array(AppProblem).meta({
    description:
      'Problems that would prevent a deployment to the environment of the request. `not_checked` if this cannot be ' +
      'determined at the moment.',
  }),
}).meta({ id: 'DataSourceWithProblems' })
export type DataSourceWithProblems = z.infer<typeof DataSourceWithProblems>

/** A problem that prevents a deployment from going live. */
export const DeploymentProblem = z
  .object({
    /** The page or data source that has the problem; both are `null` if it concerns neither. */
    page: z.string().nullable(),
    source: z.string().nullable(),
    path: z.string().meta({ description: 'JSON pointer into the page or the data source.' }),
    code: z.string(),
    message: z.string(),
  })
  .meta({ id: 'DeploymentProblem' })
export type DeploymentProblem = z.infer<typeof DeploymentProblem>

/** A resource referenced by a data source, pinned as it existed in the environment at the time of the deployment. */
export const PinnedResource = z
  .object({
    source: z.string(),
    kind: z.enum(['table', 'query', 'connector', 'workflow', 'report']),
    id: z.string(),
    name: z.string(),
    version: z
      .int()
      .nullable()
      .meta({ description: 'Version of the resource. For a table, the version of its schema.' }),
  })
  .meta({ id: 'PinnedResource' })
export type PinnedResource = z.infer<typeof PinnedResource>

/** A deployment of an app to an environment. Its contents never change; the person whose rights it uses can change. */
export const DeploymentState = z.object({
  id: idSchema('deployment'),
  ...owned,
  appSlug: AppSlug,
  appName: Name,
  environment: Environment,
  status: z.enum(['completed', 'failed']),
  number: z
    .int()
    .min(1)
    .nullable()
    .meta({
      description:
        'Sequence number among the completed deployments of the app in the environment. The deployment with the ' +
        'highest number is live.',
    }),
  note: z.string(),
  restores: z
    .int()
    .nullable()
    .meta({ description: 'Number of the earlier deployment that this one restores.' }),
  embeddable: z.boolean(),
  digest: z.string().meta({ description: 'SHA-256 of the pages and data sources, in hexadecimal.' }),
  pageCount: z.int(),
  sourceCount: z.int(),
  permissions: z.array(PermissionName).meta({
    description: 'Permissions that the data sources require from the user whose rights the deployment uses.',
  }),
  pinned: z.array(PinnedResource),
  problems: z
    .array(DeploymentProblem)
    .meta({ description: 'Problems that made the deployment fail, limited to the first 100.' }),
  deployedBy: z.string(),
  giverId: z.string().optional().meta({
    description: 'The user whose rights the deployment uses: the one who deployed it or last took it over.',
  }),
  heldReason: z
    .enum(['owner_rights'])
    .nullable()
    .default(null)
    .meta({
      description:
        '`owner_rights`: the app returns no data until the deployment is taken over, because the user who granted ' +
        'its rights lacks `missing`.',
    }),
  missing: z.array(z.string()).default([]).meta({
    description:
      'Permissions that the user who granted the rights lacks, or `membership` if that user has left the workspace.',
  }),
  ...times,
})
export type DeploymentState = z.infer<typeof DeploymentState>

export const Deployment = DeploymentState.extend({
  ...Version,
  live: z.boolean().meta({ description: 'Whether this deployment is currently live.' }),
}).meta({ id: 'Deployment' })
export type Deployment = z.infer<typeof Deployment>

/** Pages and data sources as they were deployed. */
export const DeploymentContents = z
  .object({
    pages: z.array(AppPageState.omit({ appId: true, createdAt: true, updatedAt: true })),
    sources: z.array(DataSourceState.omit({ appId: true, createdAt: true, updatedAt: true })),
  })
  .meta({ id: 'DeploymentContents' })
export type DeploymentContents = z.infer<typeof DeploymentContents>

export const DeploymentWithContents = Deployment.extend({ contents: DeploymentContents }).meta({
  id: 'DeploymentWithContents',
})

const DeploymentNumber = z.int().min(1)
export const DeploymentDiff = z
  .object({ from: DeploymentNumber, to: DeploymentNumber, changes: z.array(DefinitionChange) })
  .meta({ id: 'DeploymentDiff' })

const Note = z.string().trim().max(2_000).default('')
const Embeddable = z
  .boolean()
  .default(false)
  .meta({
    description:
      'Whether embed tokens can be created for the deployment. Holders of a token act with the rights of the ' +
      'deployment, limited to those of the user who created the token.',
  })

export const DeployApp = z
  .strictObject({ note: Note, embeddable: Embeddable })
  .meta({ id: 'DeployApp', example: { note: 'Adds the form for new assets' } })
export type DeployApp = z.infer<typeof DeployApp>

export const RollbackApp = z
  .strictObject({
    to: z.int().min(1).meta({ description: 'Number of an earlier deployment to the environment.' }),
    note: Note,
    embeddable: Embeddable,
  })
  .meta({ id: 'RollbackApp', example: { to: 3 } })
export type RollbackApp = z.infer<typeof RollbackApp>

/** An origin that may embed the app, in the syntax of CSP. */
const EmbedOrigin = z
  .string()
  .max(300)
  .refine(isOrigin, 'must be an origin such as https://portal.example.com')
  .meta({ example: 'https://portal.example.com' })

function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text && !text.includes('*')
}

const EmbedUser = z.strictObject({
  id: z.string().min(1).max(200),
  name: z.string().min(1).max(200),
  email: z.string().max(320).default(''),
})

/** Permissions and limits of an embed token. */
const embedFields = {
  origins: z.array(EmbedOrigin).min(1).max(20).meta({ description: 'Origins that may embed the app.' }),
  exempt: z
    .array(AppNameReference)
    .max(100)
    .meta({
      description:
        'Data sources to which the row filter does not apply. With a row filter, sources other than tables are ' +
        'inaccessible unless they are listed here.',
    }),
}

export const EmbedTokenState = z.object({
  id: idSchema('embedToken'),
  ...owned,
  environment: Environment,
  workspaceSlug: z.string().optional().meta({
    description:
      'Slug of the workspace in the only URL that the origins may frame. Absent from tokens of earlier versions.',
  }),
  ...embedFields,
  rowFilter: Filter.nullable(),
  user: EmbedUser.nullable(),
  expiresAt: At,
  revokedAt: At.nullable(),
  createdBy: z.string(),
  ...times,
})
export type EmbedTokenState = z.infer<typeof EmbedTokenState>

export const EmbedToken = EmbedTokenState.extend(Version).meta({ id: 'EmbedToken' })
export type EmbedToken = z.infer<typeof EmbedToken>

/** `token` and `path` are returned once: they are `null` when an idempotent request is replayed. */
export const EmbedTokenCreated = EmbedToken.extend({
  token: z.string().nullable(),
  path: z.string().nullable().meta({
    description: 'Path below the origin of apps, for the `src` of an iframe.',
  }),
}).meta({ id: 'EmbedTokenCreated' })
export type EmbedTokenCreated = z.infer<typeof EmbedTokenCreated>

export const NewEmbedToken = z
  .strictObject({
    ...embedFields,
    exempt: embedFields.exempt.default([]),
    rowFilter: NewFilter.nullable()
      .default(null)
      .meta({ description: 'Table rows that do not match are invisible to every request.' }),
    user: EmbedUser.nullable()
      .default(null)
      .meta({ description: 'The user who views the app, available to expressions as `user`.' }),
    expiresInSeconds: z.int().min(60).max(86_400).default(900),
  })
  .meta({
    id: 'NewEmbedToken',
    example: { origins: ['https://portal.example.com'], rowFilter: { customer: 'c-17' } },
  })
export type NewEmbedToken = z.infer<typeof NewEmbedToken>

export const appsEvents = {
  'app.created': resourceEvent(AppState, 'An app was made.'),
  'app.updated': resourceEvent(AppState, 'Name, slug, description or access of an app changed.'),
  'app.archived': resourceEvent(AppState, 'An app was archived: it runs nowhere any more.'),
  'app_page.created': resourceEvent(AppPageState, 'A page was added to an app.'),
  'app_page.updated': resourceEvent(AppPageState, 'A page changed; deployments stay as they are.'),
  'app_page.deleted': resourceEvent(AppPageState, 'A page was taken out of an app.'),
  'data_source.created': resourceEvent(DataSourceState, 'A data source was added to an app.'),
  'data_source.updated': resourceEvent(
    DataSourceState,
    'A data source changed; deployments stay as they are.',
  ),
  'data_source.deleted': resourceEvent(DataSourceState, 'A data source was taken out of an app.'),
  'deploy.completed': resourceEvent(DeploymentState, 'An app went live in an environment.'),
  'deploy.failed': resourceEvent(
    DeploymentState,
    'An app was not deployed, as something it needs is missing there; `problems` says what.',
  ),
  'deploy.suspended': resourceEvent(
    DeploymentState,
    'A live deployment is held: the user whose rights it carries lacks some of what it takes.',
    { missing: z.array(z.string()) },
  ),
  'deploy.taken_over': resourceEvent(DeploymentState, 'A user gave a live deployment their rights.'),
  'embed_token.created': resourceEvent(EmbedTokenState, 'A token to embed an app was made.'),
  'embed_token.revoked': resourceEvent(EmbedTokenState, 'A token to embed an app is worth nothing any more.'),
} satisfies Record<string, EventDefinition>
