import { type AssetList, type CachedDocument, cacheDocument } from '@opsplane/http'

/** Path prefix of the console's scripts, styles and fonts. */
export const assetPath = '/console/assets/'
/** Lets a page that has been open for long check whether it is outdated. */
export const versionPath = '/console/version'

/** The same page for every address and user: the requests it makes are subject to the user's rights. */
export const consolePage = (assets: AssetList): CachedDocument =>
  cacheDocument('text/html; charset=utf-8', Buffer.from(html(assets)))

/** Names the script of the page, which differs between builds. */
export const consoleVersion = ({ script }: AssetList): CachedDocument =>
  cacheDocument(
    'application/json; charset=utf-8',
    Buffer.from(JSON.stringify({ script: `${assetPath}${script}` })),
  )

/**
 * Allows only resources of this origin, and images in `data:` URLs: no inline code, no other origins, no frames, and no
 * text as markup. No nonces are needed, since the page has no style element either (ADR 154).
 */
export const consoleHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': [
    "default-src 'none'",
    "base-uri 'none'",
    "connect-src 'self'",
    "font-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src 'self' data:",
    "require-trusted-types-for 'script'",
    "script-src 'self'",
    "style-src 'self'",
    "trusted-types 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** The fonts used on every page; preloaded, so that text does not change its width when they arrive. */
const isBasicFont = (file: string) => /-latin-wght-normal-\w+\.woff2$/.test(file)

const html = ({ script, style, files, preload }: AssetList) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Opsplane</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetPath}${style}">
${files
  .filter(isBasicFont)
  .map((file) => `<link rel="preload" as="font" type="font/woff2" crossorigin href="${assetPath}${file}">`)
  .join('\n')}
${preload.map((file) => `<link rel="modulepreload" href="${assetPath}${file}">`).join('\n')}
<script type="module" src="${assetPath}${script}"></script>
</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript. The API is at /api/v1, its reference at /api/v1/docs.</noscript>
</body>
</html>
`
