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
    'acceptInvitation: post /auth/invitations/accept',
    'addPasskey: post /auth/factors/passkeys',
    'beginPasskey: post /auth/factors/passkeys/options',
    'beginPasskeySignIn: post /auth/passkey/options',
    'beginStepUp: post /auth/step-up/options',
    'beginTotp: post /auth/factors/totp',
    'changePassword: post /auth/password/change',
    'confirmTotp: post /auth/factors/totp/confirm',
    'createAccountResetLink: post /platform/accounts/reset-link',
    'createAuditCheckpoint: post /audit/checkpoints',
    'createBrowserSession: post /auth/session',
    'createIdentityProvider: post /settings/identity-providers',
    'createRecoveryCodes: post /auth/recovery-codes',
    'createRole: post /settings/roles',
    'createSecret: post /secrets',
    'createSession: post /auth/token',
    'createToken: post /auth/tokens',
    'createUserResetLink: post /settings/users/{id}/reset-link',
    'createWorkspace: post /workspaces',
    'deleteIdentityProvider: delete /settings/identity-providers/{id}',
    'deleteRole: delete /settings/roles/{name}',
    'deleteSecret: delete /secrets/{name}',
    'dropDeadLetter: delete /platform/dead-letters/{id}',
    'endOwnSession: delete /auth/sessions/{id}',
    'endOwnSessions: delete /auth/sessions',
    'endSession: post /auth/logout',
    'endSsoSession: post /auth/sso/logout',
    'endUserSession: delete /settings/users/{id}/sessions/{sessionId}',
    'exportAudit: get /audit/export',
    'getAuditCheckpointKey: get /audit/checkpoints/key',
    'getAuditEvent: get /audit/{eventId}',
    'getCurrentWorkspace: get /workspaces/me',
    'getIdentityProvider: get /settings/identity-providers/{id}',
    'getMe: get /auth/me',
    'getNotification: get /notifications/{id}',
    'getPlatformStatus: get /platform/status',
    'getRole: get /settings/roles/{name}',
    'getSecret: get /secrets/{name}',
    'getSignInPolicy: get /settings/sign-in-policy',
    'getUser: get /settings/users/{id}',
    'getWorkspaceStats: get /workspaces/{slug}/stats',
    'getWorkspaceStatus: get /workspaces/{slug}/status',
    'inviteUser: post /settings/users/invite',
    'linkIdentity: post /auth/identities',
    'listAuditCheckpoints: get /audit/checkpoints',
    'listAuditEvents: get /audit',
    'listDeadLetters: get /platform/dead-letters',
    'listDependents: get /settings/users/{id}/dependents',
    'listFactors: get /auth/factors',
    'listIdentities: get /auth/identities',
    'listIdentityProviders: get /settings/identity-providers',
    'listNotifications: get /notifications',
    'listRoles: get /settings/roles',
    'listSecrets: get /secrets',
    'listSessions: get /auth/sessions',
    'listSignInProviders: get /auth/sso',
    'listTokens: get /auth/tokens',
    'listUserSessions: get /settings/users/{id}/sessions',
    'listUsers: get /settings/users',
    'listWorkspaceTokens: get /settings/tokens',
    'listWorkspaces: get /workspaces',
    'markNotificationRead: post /notifications/{id}/read',
    'proveAddress: post /auth/address/prove/confirm',
    'redriveDeadLetter: post /platform/dead-letters/{id}/redrive',
    'removeAccountFactors: post /platform/accounts/remove-factors',
    'removeFactor: delete /auth/factors/{id}',
    'removeUser: delete /settings/users/{id}',
    'removeUserFactors: delete /settings/users/{id}/factors',
    'renameFactor: patch /auth/factors/{id}',
    'requestAddressProof: post /auth/address/prove',
    'requestPasswordReset: post /auth/password/reset',
    'resetPassword: post /auth/password/reset/confirm',
    'resolveReference: get /resolve/{id}',
    'revokeToken: delete /auth/tokens/{id}',
    'revokeWorkspaceToken: delete /settings/tokens/{id}',
    'rotateSecret: put /secrets/{name}',
    'rotateToken: post /auth/tokens/rotate',
    'setSignInPolicy: put /settings/sign-in-policy',
    'startSso: post /auth/sso/start',
    'stepUp: post /auth/step-up',
    'streamEvents: get /events/stream',
    'unlinkIdentity: delete /auth/identities/{id}',
    'updateIdentityProvider: patch /settings/identity-providers/{id}',
    'updateRole: patch /settings/roles/{name}',
    'updateUser: patch /settings/users/{id}',
    'updateWorkspace: patch /workspaces/{slug}',
    'verifyAudit: get /audit/verify',
    'verifyAuditAgainstCheckpoint: post /audit/verify',
  ])
})
