import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { z } from 'zod'
import { type Settings, startSettings } from './settings.fixture.js'

let settings: Settings

beforeAll(async () => {
  settings = await startSettings()
})
afterAll(() => settings?.stop())

const Document = z.object({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.object({ operationId: z.string(), summary: z.string() })),
  ),
})

it('describes every public operation, and no internal one', async () => {
  const reply = await settings.internal.get('/internal/openapi.json')
  const { paths } = Document.parse(JSON.parse(reply.text))
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId}: ${method} ${path}`),
  )
  expect(operations.sort()).toEqual([
    'createAuditCheckpoint: post /audit/checkpoints',
    'createSecret: post /secrets',
    'createSession: post /auth/token',
    'createToken: post /auth/tokens',
    'deleteSecret: delete /secrets/{name}',
    'endSession: post /auth/logout',
    'exportAudit: get /audit/export',
    'getAuditCheckpointKey: get /audit/checkpoints/key',
    'getAuditEvent: get /audit/{eventId}',
    'getCurrentWorkspace: get /workspaces/me',
    'getMe: get /auth/me',
    'getNotification: get /notifications/{id}',
    'getWorkspaceStats: get /workspaces/{slug}/stats',
    'listAuditCheckpoints: get /audit/checkpoints',
    'listAuditEvents: get /audit',
    'listNotifications: get /notifications',
    'listSecrets: get /secrets',
    'listTokens: get /auth/tokens',
    'listWorkspaces: get /workspaces',
    'markNotificationRead: post /notifications/{id}/read',
    'revokeToken: delete /auth/tokens/{id}',
    'rotateSecret: put /secrets/{name}',
    'rotateToken: post /auth/tokens/rotate',
    'updateWorkspace: patch /workspaces/{slug}',
    'verifyAudit: get /audit/verify',
    'verifyAuditAgainstCheckpoint: post /audit/verify',
  ])
})
