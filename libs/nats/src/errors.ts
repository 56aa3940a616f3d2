/** The link was closed by its owner; pending waits for a connection fail with this error. */
export class NatsLinkClosedError extends Error {
  constructor() {
    super('the NATS link is closed')
    this.name = 'NatsLinkClosedError'
  }
}

/** A message arrived under a subject that does not belong to the event in it. */
export class SubjectMismatchError extends Error {
  readonly code = 'subject_mismatch'

  constructor(subject: string) {
    super(`subject_mismatch: the event in the message is not one of ${subject}`)
    this.name = 'SubjectMismatchError'
  }
}

/** Nothing proves that a message was published by the service it names as its source. */
export class SignatureError extends Error {
  readonly code = 'signature'

  constructor(reason: string) {
    super(`the message is not authentic: ${reason}`)
    this.name = 'SignatureError'
  }
}

/** A message that was parsed lazily is invalid and will remain so; `cause` states why. */
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

/** The content of an object in an object store differs from what was stored. */
export class CorruptObjectError extends Error {
  constructor(bucket: string, name: string) {
    super(`the object ${name} of ${bucket} is not what was put there`)
    this.name = 'CorruptObjectError'
  }
}

/** The NATS server is older than the platform supports. States the version found and the remedy. */
export class UnsupportedServerError extends Error {
  override name = 'UnsupportedServerError'
  constructor(found: string, oldest: string) {
    super(
      `This NATS server is version ${found || 'unknown'}, and Opsplane needs ${oldest} or newer. Upgrade the server, or name another one ` +
        'in NATS_URL.',
    )
  }
}

/**
 * A stream on the NATS server belongs to another installation. States the expected and actual owner and the
 * remedy.
 */
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
