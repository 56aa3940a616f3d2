import { expect, test } from '@jest/globals'
import type { NatsConnection, Status } from '@nats-io/transport-node'
import { acknowledgements } from './acknowledgements.js'

/** Acknowledgements over a connection whose state changes the test controls. */
function followed() {
  let report: (type: string) => void = () => {}
  const statuses = new ReadableStream<Status>({
    start(controller) {
      report = (type) => controller.enqueue({ type } as Status)
    },
  })
  const connection = { status: () => statuses } as unknown as NatsConnection
  const sent: string[] = []
  let disowned = 0
  const acks = acknowledgements(() => void disowned++)
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    ...{ acks, sent },
    disowned: () => disowned,
    answer: (text: string, isFinal = true) => acks.send(() => void sent.push(text), isFinal),
    verify: (created: string) => acks.verify(connection, async () => created),
    async change(type: 'disconnect' | 'reconnect') {
      report(type)
      await settled()
    },
    async verifyWhile(type: 'disconnect' | 'reconnect') {
      await acks.verify(connection, async () => {
        report(type)
        await settled()
        return 'first'
      })
    },
  }
}

test.each(['disconnect', 'reconnect'] as const)(
  'after a %s, delays answers until the same consumer is found, and drops progress signals',
  async (change) => {
    const { verify, change: report, answer, sent } = followed()
    await verify('first')
    answer('at once')
    await report(change)
    answer('later')
    answer('working', false)
    expect(sent).toEqual(['at once'])
    await verify('first')
    expect(sent).toEqual(['at once', 'later'])
    answer('working again', false)
    expect(sent).toEqual(['at once', 'later', 'working again'])
  },
)

test('does not send another consumer an answer to a message of the former one', async () => {
  const { acks, verify, answer, sent, disowned } = followed()
  await verify('first')
  acks.suspend()
  answer('of the first')
  const before = disowned()
  await verify('second')
  expect(disowned()).toBe(before + 1)
  answer('of the second')
  expect(sent).toEqual(['of the second'])
})

test('ignores a verification during which the connection was lost', async () => {
  const { verify, verifyWhile, answer, sent } = followed()
  await verify('first')
  await expect(verifyWhile('disconnect')).rejects.toThrow('lost')
  answer('later')
  expect(sent).toEqual([])
  await verify('first')
  expect(sent).toEqual(['later'])
})
