/** Operations no success can be counted on here, and why. */
export const neverSuccessful: Record<string, string> = {
  cancelWebhookReplay: 'a replay of one delivery is over before it can be canceled',
  cancelExecution: 'an execution is over before it can be canceled',
  requestPasswordReset: 'no mail server',
  resetPassword: 'what it takes comes by mail',
  requestAddressProof: 'no mail server',
  proveAddress: 'what it takes comes by mail',
  redriveDeadLetter: 'no consumer gives anything up here',
  dropDeadLetter: 'no consumer gives anything up here',
  stepUp: 'for the session of a browser only',
}
