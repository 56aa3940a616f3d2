import { Kbd, Modal } from '@mantine/core'
import { texts } from '../texts/en.js'
import { areas } from './areas.js'

const words = texts.keys
const groups: readonly [title: string, keys: readonly (readonly [keys: string, does: string])[]][] = [
  [
    words.anywhere,
    [
      ['Ctrl K', words.palette],
      ['?', words.help],
      ...areas.map(({ name, key }) => [`g ${key}`, words.goTo(texts.areas[name])] as const),
    ],
  ],
  [
    words.lists,
    [
      ['j', words.next],
      ['k', words.previous],
      ['Enter', words.open],
      ['Esc', words.back],
      ['/', words.filter],
      ['r', words.retry],
    ],
  ],
]

export function KeysHelp({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  return (
    // It floats for a moment: the page behind may scroll, and a style element to stop it is not allowed.
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={words.title}
      size={520}
      lockScroll={false}
      closeButtonProps={{ size: 28, 'aria-label': texts.common.close }}
      transitionProps={{ duration: 80 }}
    >
      <div className="keys">
        {groups.map(([title, keys]) => (
          <section key={title}>
            <h3 className="small muted">{title}</h3>
            <dl>
              {keys.map(([pressed, does]) => (
                <div key={pressed} className="keys-row">
                  <dt>{does}</dt>
                  <dd>
                    {pressed.split(' ').map((key) => (
                      <Kbd key={key} size="xs">
                        {key}
                      </Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  )
}
