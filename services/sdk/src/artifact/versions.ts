import {
  ArtifactApi,
  ArtifactKind,
  ArtifactLimits,
  ArtifactPermissions,
  ArtifactRule,
  ArtifactSchema,
  ArtifactTests,
  type ReadModelRow,
  Schedule,
} from '@opsplane/contracts'
import { z } from 'zod'

/** A version as it is kept: immutable. */
export const StoredVersion = z.object({
  artifactId: z.string(),
  number: z.int().min(1),
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  kind: ArtifactKind,
  /** As `CodeRunner.compile` gives it. */
  code: z.string(),
  fileName: z.string(),
  source: z.string(),
  inputSchema: ArtifactSchema.nullable(),
  outputSchema: ArtifactSchema.nullable(),
  permissions: ArtifactPermissions,
  limits: ArtifactLimits,
  retryable: z.boolean(),
  rule: ArtifactRule.nullable(),
  api: ArtifactApi.nullable(),
  schedule: Schedule.nullable(),
  tests: ArtifactTests,
  packVersion: z.string(),
  /** Of all that decides what it does. */
  digest: z.string(),
  createdAt: z.string(),
  createdBy: z.string(),
})
export type StoredVersion = z.infer<typeof StoredVersion>

export const versionRef = (artifactId: string, number: number) => `${artifactId}.${number}`

export const versionRow = (version: StoredVersion): ReadModelRow => ({
  table: 'artifact_versions',
  id: versionRef(version.artifactId, version.number),
  state: { ...version },
})
