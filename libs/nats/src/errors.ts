/** The link was closed by its owner; whoever still waits for a connection gets this. */
export class NatsLinkClosedError extends Error {
  constructor() {
    super('the NATS link is closed')
    this.name = 'NatsLinkClosedError'
  }
}

/** A consume loop ended because its durable or its stream is gone, or the server went silent. */
export class ConsumerLostError extends Error {
  constructor(
    readonly durable: string,
    reason: string,
  ) {
    super(`the consumer ${durable} was lost: ${reason}`)
    this.name = 'ConsumerLostError'
  }
}

/** Nobody takes messages of this subject: the stream is gone, or JetStream is off. */
export class NoStreamError extends Error {
  constructor() {
    super('no stream takes this subject')
    this.name = 'NoStreamError'
  }
}
