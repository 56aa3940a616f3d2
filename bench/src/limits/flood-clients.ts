import { connect } from 'node:net'
import { Agent, request } from 'undici'
import { evenly } from '../load.js'

const { BASE_URL: base = '', KIND: kind = '', PER_SECOND, SECONDS } = process.env
const { AUTHORIZATION: authorization = '', WORKSPACE: workspace = '', EMAIL: email = '' } = process.env
const agent = new Agent({ connections: 512 })
const known = { authorization, 'x-workspace': workspace }

async function send(path: string, headers: Record<string, string>, body?: object): Promise<void> {
  const answer = await request(`${base}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
    ...(body && { body: JSON.stringify(body) }),
    dispatcher: agent,
  })
  await answer.body.dump()
}

/** Sends a login request whose body never arrives. */
function hang(): void {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname, () => {
    socket.write('POST /api/v1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n')
    socket.write('Content-Length: 60\r\n\r\n{"email":')
  })
  socket.on('error', () => undefined)
}

const kinds: Record<string, (n: number) => Promise<void>> = {
  anonymous: () => send('/itsm/incidents', {}),
  'wrong keys': (n) => {
    const key = `ops_key_${String(n).padStart(26, '0')}_${'x'.repeat(38)}`
    return send('/itsm/incidents', { ...known, authorization: `Bearer ${key}` })
  },
  authenticated: () => send('/itsm/incidents?limit=50', known),
  'slow bodies': async () => hang(),
  polls: () => send('/events/topics/builds/events?timeout=20000', known),
  logins: (n) => send('/auth/token', {}, { email, password: `guess ${n}` }),
}

// A separate process, so that its CPU use is not measured as another client's latency.
process.send?.({ port: 0 })
const flood = kinds[kind]
if (!flood) throw new Error(`there is no flood of ${kind}`)
await evenly({ rate: Number(PER_SECOND), seconds: Number(SECONDS) }, (n) => flood(n).catch(() => undefined))
