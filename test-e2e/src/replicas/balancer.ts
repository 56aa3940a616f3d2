import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A connection balancer in front of the replicas of a service, like a Service of Kubernetes. */
export interface Balancer {
  port: number
  add(port: number): void
  /** Sends no new connections to this port; existing ones continue. */
  remove(port: number): void
  close(): Promise<void>
}

/** Forwards each connection to the next replica in rotation; skips a replica that refuses it. */
export async function startBalancer(): Promise<Balancer> {
  const replicas: number[] = []
  const open = new Set<Socket>()
  let turn = 0

  const track = (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
  }
  const join = (client: Socket, replica: Socket) => {
    client.pipe(replica).pipe(client)
    // A killed process resets its connections, and so does this balancer.
    replica.once('error', () => client.resetAndDestroy())
    client.once('error', () => replica.resetAndDestroy())
    client.once('close', () => replica.destroy())
    replica.once('close', () => client.destroySoon())
  }
  const connectTo = async ([port, ...others]: number[], client: Socket): Promise<void> => {
    if (port === undefined) return void client.resetAndDestroy()
    const replica = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
    track(replica)
    try {
      await once(replica, 'connect')
    } catch {
      return connectTo(others, client)
    }
    join(client, replica)
  }

  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    track(client)
    turn = (turn + 1) % Math.max(1, replicas.length)
    void connectTo([...replicas.slice(turn), ...replicas.slice(0, turn)], client)
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    add: (port) => void replicas.push(port),
    remove(port) {
      const at = replicas.indexOf(port)
      if (at >= 0) replicas.splice(at, 1)
    },
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
