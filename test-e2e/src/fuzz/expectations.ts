/** Operations no success can be counted on here, and why. */
export const neverSuccessful: Record<string, string> = {
  cancelWebhookReplay: 'a replay of one delivery is over before it can be canceled',
  cancelExecution: 'an execution is over before it can be canceled',
  requestPasswordReset: 'no mail server',
  resetPassword: 'what it takes comes by mail',
  requestAddressProof: 'no mail server',
  proveAddress: 'what it takes comes by mail',
  stepUp: 'for the session of a browser only',
  createIdentityProvider: 'an API key is refused',
  getIdentityProvider: 'an API key makes none',
  updateIdentityProvider: 'an API key is refused',
  deleteIdentityProvider: 'an API key is refused',
  startSso: 'there is no identity provider',
  linkIdentity: 'for the session of a browser only',
  unlinkIdentity: 'there is no identity provider',
}
