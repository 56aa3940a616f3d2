import { type AssetList, type CachedDocument, cacheDocument } from '@opsplane/http'

const assetPath = '/apps/-/assets/'

/** The same page for every app: who may see what is found out by what it then asks for. */
export const shellPage = ({ script, style }: AssetList): CachedDocument =>
  cacheDocument(
    'text/html; charset=utf-8',
    Buffer.from(html(`${assetPath}${script}`, `${assetPath}${style}`)),
  )

/** Of the page where these origins may show it in a frame. */
export const shellHeaders = (frameAncestors: readonly string[]): Record<string, string | undefined> => ({
  'Content-Security-Policy': policy(frameAncestors),
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // Says less than frame-ancestors, and would refuse all of them.
  ...(frameAncestors.length > 0 && { 'X-Frame-Options': undefined }),
})

/** Everything comes from here: nothing inline, nothing from elsewhere, and no text becomes markup. */
function policy(frameAncestors: readonly string[]): string {
  return [
    "default-src 'none'",
    "base-uri 'none'",
    "connect-src 'self'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'"}`,
    "img-src 'self' data:",
    "require-trusted-types-for 'script'",
    "script-src 'self'",
    "style-src 'self'",
    "trusted-types 'none'",
  ].join('; ')
}

const html = (script: string, style: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>App</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript>This app needs JavaScript.</noscript>
</body>
</html>
`
