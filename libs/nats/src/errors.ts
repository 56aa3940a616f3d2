/** The link was closed by its owner; pending waits for a connection fail with this. */
export class NatsLinkClosedError extends Error {
  constructor() {
    super('the NATS link is closed')
    this.name = 'NatsLinkClosedError'
  }
}

/** A message came under a subject that is not the one of the event in it. */
export class SubjectMismatchError extends Error {
  readonly code = 'subject_mismatch'

  constructor(subject: string) {
    super(`subject_mismatch: the event in the message is not one of ${subject}`)
    this.name = 'SubjectMismatchError'
  }
}

/** Nothing proves that the service which a message names as its source has published it. */
export class SignatureError extends Error {
  readonly code = 'signature'

  constructor(reason: string) {
    super(`the message is not authentic: ${reason}`)
    this.name = 'SignatureError'
  }
}

/** A message that was looked into late turned out to say nothing, which it never will; `cause` tells why. */
export class UnreadableMessageError extends Error {
  constructor(cause: unknown) {
    super('the message cannot be read', { cause })
    this.name = 'UnreadableMessageError'
  }
}

/** No stream has this subject: it was deleted, or JetStream is off. */
export class NoStreamError extends Error {
  constructor() {
    super('no stream takes this subject')
    this.name = 'NoStreamError'
  }
}

/** What an object store has under a name is not what was put there. */
export class CorruptObjectError extends Error {
  constructor(bucket: string, name: string) {
    super(`the object ${name} of ${bucket} is not what was put there`)
    this.name = 'CorruptObjectError'
  }
}

/** The NATS server is older than the platform supports: what was found, and the remedy. */
export class UnsupportedServerError extends Error {
  override name = 'UnsupportedServerError'
  constructor(found: string, oldest: string) {
    super(
      `This NATS server is version ${found || 'unknown'}, and Opsplane needs ${oldest} or newer. Upgrade the server, or name another one ` +
        'in NATS_URL.',
    )
  }
}

/** A stream on the NATS server is another installation's: what was expected, what was found, and the cure. */
export class ForeignStreamError extends Error {
  override name = 'ForeignStreamError'
  constructor(stream: string, found: string, expected: string) {
    super(
      `The stream ${stream} of this NATS server belongs to installation ${found}, and this is installation ${expected}. Set ` +
        'NATS_PREFIX, or name a NATS server or account of its own in NATS_URL; where the streams are to be of this one ' +
        'from now on, run opsplane adopt --streams.',
    )
  }
}
