import { type AssetList, type CachedDocument, cacheDocument } from '@opsplane/http'

const assetPath = '/apps/-/assets/'

/** The same page for every app: access is checked by the requests that the page makes. */
export const shellPage = ({ script, style }: AssetList): CachedDocument =>
  cacheDocument(
    'text/html; charset=utf-8',
    Buffer.from(html(`${assetPath}${script}`, `${assetPath}${style}`)),
  )

/** Headers of a page that these origins may frame. */
export const shellHeaders = (frameAncestors: readonly string[]): Record<string, string | undefined> => ({
  'Content-Security-Policy': policy(frameAncestors),
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // `X-Frame-Options` cannot express a list of origins and would block all of them.
  ...(frameAncestors.length > 0 && { 'X-Frame-Options': undefined }),
})

/** Allows resources from this origin only: no inline code, no other origins, and no text is parsed as markup. */
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
