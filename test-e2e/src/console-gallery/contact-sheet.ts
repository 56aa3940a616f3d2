import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { startBrowser } from '../browser.js'
import type { Shot } from './gallery.js'

/** Combines many screenshots into one image: small, each with its name below, in the given order. */
export async function writeContactSheets(
  folder: string,
  shots: readonly Shot[],
  nameOf: (shot: Shot) => string,
): Promise<string[]> {
  const groups = new Map<string, Shot[]>()
  for (const shot of shots) groups.set(nameOf(shot), [...(groups.get(nameOf(shot)) ?? []), shot])
  const browser = await startBrowser()
  try {
    const { page } = await browser.open({ viewport: { width: 1_900, height: 1_000 } })
    const files: string[] = []
    for (const [name, group] of groups) {
      const file = join(folder, `sheet-${name}.png`)
      await page.setContent(sheet(name, group))
      await page.evaluate('Promise.all([...document.images].map((image) => image.decode()))')
      await page.screenshot({ path: file, fullPage: true })
      files.push(file)
    }
    return files
  } finally {
    await browser.close()
  }
}

const heightPx = 260

const sheet = (
  name: string,
  shots: readonly Shot[],
) => `<!doctype html><meta charset="utf-8"><title>${name}</title>
<style>body{font:12px sans-serif;margin:12px;background:#777;color:#fff}figure{display:inline-block;margin:4px}
img{display:block;height:${heightPx}px;border:1px solid #000}</style><h1>${name}</h1>
${shots.map((shot) => `<figure><img src="data:image/png;base64,${readFileSync(shot.file, 'base64')}"><figcaption>${basename(shot.file, '.png')}</figcaption></figure>`).join('\n')}`
