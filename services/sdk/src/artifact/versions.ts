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

/** An immutable stored version. */
export const StoredVersion = z.object({
  artifactId: z.string(),
  number: z.int().min(1),
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  kind: ArtifactKind,
  /** As returned by `CodeRunner.compile`. */
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
  /** Digest of everything that determines its behavior. */
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
