import { type AssetList, type CachedDocument, cacheDocument } from '@opsplane/http'

/** Below it are the scripts, styles and fonts of the console. */
export const assetPath = '/console/assets/'
/** Where a page that has been open for long asks whether it is still the present one. */
export const versionPath = '/console/version'

/** The same page at every address and for every user: the requests it then makes are subject to the user's rights. */
export const consolePage = (assets: AssetList): CachedDocument =>
  cacheDocument('text/html; charset=utf-8', Buffer.from(html(assets)))

/** Names the script of the page, which differs from build to build. */
export const consoleVersion = ({ script }: AssetList): CachedDocument =>
  cacheDocument(
    'application/json; charset=utf-8',
    Buffer.from(JSON.stringify({ script: `${assetPath}${script}` })),
  )

/**
 * Everything comes from here: nothing inline, nothing from elsewhere, no frame, and no text becomes markup. There are no
 * nonces, as the page has no style element either (ADR 154).
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

/** Of the fonts those that every page is written in: text does not change its width when they come. */
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
