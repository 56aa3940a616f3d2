export const languages = [
  ['node', 'Node'],
  ['python', 'Python'],
  ['curl', 'curl'],
] as const
export type Language = (typeof languages)[number][0]

/** Runnable receiver code in a language: it accepts valid signatures and rejects all others. */
export const verifierIn = (language: Language): string => verifiers[language]

const verifiers: Record<Language, string> = {
  node: `import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env.WEBHOOK_SECRET
const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret

function isSigned(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given = '' } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(at)) < 300)) return false
  const wanted = createHmac('sha256', key).update(\`\${id}.\${at}.\`).update(body).digest()
  return given.split(' ').some((each) => {
    const signature = Buffer.from(each.replace(/^v1,/, ''), 'base64')
    return signature.length === wanted.length && timingSafeEqual(signature, wanted)
  })
}

createServer(async (request, response) => {
  // The bytes as they came: JSON that is written again is not what was signed.
  const body = Buffer.concat(await request.toArray())
  response.writeHead(isSigned(request.headers, body) ? 204 : 401).end()
}).listen(Number(process.env.PORT ?? 9000))
`,
  python: `import base64, hashlib, hmac, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

secret = os.environ['WEBHOOK_SECRET']
key = base64.b64decode(secret[6:]) if secret.startswith('whsec_') else secret.encode()


def is_signed(headers, body):
    at = headers.get('webhook-timestamp', '')
    if not at.isdigit() or abs(time.time() - int(at)) > 300:
        return False
    signed = f"{headers.get('webhook-id')}.{at}.".encode() + body
    wanted = 'v1,' + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = headers.get('webhook-signature', '').split(' ')
    return any(hmac.compare_digest(each, wanted) for each in given)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get('content-length', 0)))
        self.send_response(204 if is_signed(self.headers, body) else 401)
        self.end_headers()


HTTPServer(('127.0.0.1', int(os.environ.get('PORT', '9000'))), Receiver).serve_forever()
`,
  curl: `# A request as Opsplane sends it, to try a receiver with.
SECRET="$WEBHOOK_SECRET"
URL="\${1:-http://127.0.0.1:9000/}"
BODY='{"type":"webhook.test","data":{}}'
ID="evt_test_$(date +%s)"
AT="$(date +%s)"
KEY="$(case "$SECRET" in
  whsec_*) printf %s "\${SECRET#whsec_}" | base64 -d ;;
  *) printf %s "$SECRET" ;;
esac | od -An -tx1 | tr -d ' \\n')"
SIGNATURE="$(printf '%s.%s.%s' "$ID" "$AT" "$BODY" |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64)"
curl -s -o /dev/null -w '%{http_code}\\n' "$URL" -d "$BODY" \\
  -H 'Content-Type: application/json' \\
  -H "webhook-id: $ID" -H "webhook-timestamp: $AT" -H "webhook-signature: v1,$SIGNATURE"
`,
}
